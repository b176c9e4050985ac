// NumPy's arrays (model/datasets/npy.h).
#include "model/datasets/npy.h"

#include <glog/logging.h>

#include <algorithm>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(npy) {
  const std::span<const uint8_t> file(data, size);
  size_t at = 0;
  const ReadBytes read = [&](int64_t wanted) -> absl::StatusOr<std::vector<uint8_t>> {
    CHECK_GE(wanted, 0);
    CHECK_LE(wanted, 4 << 20) << "memory is not what a header claims";
    const size_t count = std::min(static_cast<size_t>(wanted), file.size() - at);
    const auto part = file.subspan(at, count);
    at += count;
    return std::vector<uint8_t>(part.begin(), part.end());
  };
  const auto header = ReadNpyHeader("x", read);
  if (!header.ok()) {
    fuzz::RequireClass(header.status(), Failure::kInput);
    CHECK_LT(header.status().message().size(), 4000u);
    return;
  }
  int64_t count = 1;
  for (const int64_t extent : header->shape) count *= extent;
  CHECK_EQ(header->count, count);
  CHECK_GT(count, 0);
  size_t taken = 0;
  const auto items = static_cast<size_t>(header->item_size);
  const absl::Status status =
      ReadNpyElements("x", *header, read, [&](std::span<const uint8_t> elements) {
        CHECK_EQ(elements.size() % items, 0u);
        taken += elements.size();
        return absl::OkStatus();
      });
  CHECK_LE(taken, size);
  if (!status.ok()) return fuzz::RequireClass(status, Failure::kInput);
  CHECK_EQ(taken, static_cast<size_t>(count) * items);
  CHECK_EQ(at, size);
}

}  // namespace
}  // namespace grapevine
