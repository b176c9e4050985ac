#include "kernels/passes/streamed_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/vector/norms.h"
#include "random/keyed_random.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

// Of `values`, whose bytes come in pieces of 1 to `most`.
double Streamed(const std::vector<float>& values, int64_t most, InstructionSet set,
                StreamedNorm::Wanted wanted = StreamedNorm::Wanted::kNorm) {
  KeyedRandom random(/*seed=*/5, Purpose::kGradientNoise, most);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  const auto size = static_cast<int64_t>(values.size() * sizeof(float));
  StreamedNorm norm(size, wanted, set);
  for (int64_t done = 0; done < size;) {
    const int64_t piece =
        std::min(size - done, 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(most))));
    norm.Add(bytes + done, piece);
    done += piece;
  }
  return norm.squared();
}

TEST(StreamedNormTest, HasTheBitsOfTheWholeWhereverItIsCut) {
  for (const int64_t size : {0, 1, 63, 64, 4095, 4096, 4097, 100'003}) {
    const std::vector<float> values = Noise(size);
    const double whole = SquaredNorm(values.data(), size);
    for (const int64_t most : {3, 7, 8160, 1 << 20}) {
      for (const InstructionSet set : AvailableInstructionSets()) {
        EXPECT_EQ(Streamed(values, most, set), whole) << size << " elements by " << most;
      }
    }
  }
}

// More chunks than there are lanes for them.
TEST(StreamedNormTest, HasTheBitsOfALargeVector) {
  const std::vector<float> values = Noise(kSumChunk * kChunkLanes + 5 * kSumChunk + 17);
  EXPECT_EQ(Streamed(values, 1 << 20, BestInstructionSet()),
            SquaredNorm(values.data(), static_cast<int64_t>(values.size())));
}

// A message may be shorter than the buffer that was posted for it.
TEST(StreamedNormTest, HasTheBitsOfAVectorShorterThanForeseen) {
  const std::vector<float> values = Noise(9000);
  StreamedNorm norm(1 << 24);
  norm.Add(reinterpret_cast<const std::byte*>(values.data()), 36000);
  EXPECT_EQ(norm.squared(), SquaredNorm(values.data(), 9000));
}

TEST(StreamedNormTest, IsFiniteWhereAllElementsAre) {
  std::vector<float> values = Noise(10'000);
  values[17] = values[18] = std::numeric_limits<float>::max();
  constexpr auto kFiniteness = StreamedNorm::Wanted::kFiniteness;
  EXPECT_TRUE(std::isfinite(Streamed(values, 8160, BestInstructionSet())));
  EXPECT_EQ(Streamed(values, 8160, BestInstructionSet(), kFiniteness), 0);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {size_t{0}, size_t{5001}, values.size() - 1}) {
      std::vector<float> spoilt = values;
      spoilt[at] = bad;
      EXPECT_FALSE(std::isfinite(Streamed(spoilt, 8160, BestInstructionSet()))) << at;
      for (const InstructionSet set : AvailableInstructionSets()) {
        EXPECT_TRUE(std::isinf(Streamed(spoilt, 7, set, kFiniteness))) << at;
      }
    }
  }
}

}  // namespace
}  // namespace grapevine
