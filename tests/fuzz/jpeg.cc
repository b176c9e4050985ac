// Images of a data set (model/datasets/jpeg.h).
#include "model/datasets/jpeg.h"

#include <glog/logging.h>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(jpeg) {
  const std::span<const uint8_t> file(data, size);
  const auto extent = JpegExtent("x.jpg", file);
  if (!extent.ok()) {
    fuzz::RequireClass(extent.status(), Failure::kInput);
    return;
  }
  CHECK(extent->width > 0 && extent->height > 0);
  // Large ones take the fuzzer's memory and time, and no other way.
  if (extent->width * extent->height > (1 << 20)) return;
  for (const int denominator : {1, 8}) {
    std::vector<uint8_t> pixels;
    const auto decoded = DecodeJpeg("x.jpg", file, denominator, &pixels);
    if (!decoded.ok()) {
      fuzz::RequireClass(decoded.status(), Failure::kInput);
      continue;
    }
    CHECK_EQ(decoded->width, (extent->width + denominator - 1) / denominator);
    CHECK_EQ(decoded->height, (extent->height + denominator - 1) / denominator);
    CHECK_EQ(pixels.size(), static_cast<size_t>(3 * decoded->width * decoded->height));
  }
}

}  // namespace
}  // namespace grapevine
