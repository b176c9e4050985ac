#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/passes/crc32c.h"

namespace grapevine {
namespace {

TEST(Copy, WritesItsRangeAndNothingBesideAtEverySizeAndAlignment) {
  constexpr uint8_t kUntouched = 0xee;
  std::vector<uint8_t> from(700);
  std::iota(from.begin(), from.end(), 0);
  for (const CopyTo where : {CopyTo::kCache, CopyTo::kMemory}) {
    for (const size_t size : {0, 1, 15, 63, 64, 65, 127, 128, 129, 500}) {
      for (size_t offset = 0; offset < 65; ++offset) {
        std::vector<uint8_t> to(700, kUntouched);
        Copy(where, &to[offset], &from[offset / 2], size);
        const auto begin = to.begin() + static_cast<ptrdiff_t>(offset);
        const auto end = begin + static_cast<ptrdiff_t>(size);
        ASSERT_TRUE(std::equal(begin, end, from.begin() + static_cast<ptrdiff_t>(offset / 2)))
            << size << " at " << offset;
        ASSERT_EQ(std::count(to.begin(), begin, kUntouched), offset) << size;
        ASSERT_EQ(std::count(end, to.end(), kUntouched), to.end() - end) << size << offset;
      }
    }
  }
}

}  // namespace
}  // namespace grapevine
