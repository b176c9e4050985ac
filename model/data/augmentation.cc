#include "model/data/augmentation.h"

#include <algorithm>

namespace grapevine {
namespace {

// Uniform in [0, n) from 24 bits; the bias is below n / 2^24.
int64_t Scale(uint64_t bits, int64_t n) {
  return static_cast<int64_t>(((bits & 0xffffff) * static_cast<uint64_t>(n)) >> 24);
}

}  // namespace

Variation DrawVariation(const Augmentation& augmentation, uint64_t bits) {
  const int64_t positions = 2 * augmentation.padding + 1;
  return {.top = Scale(bits, positions),
          .left = Scale(bits >> 24, positions),
          .mirrored = augmentation.mirror && (bits >> 63) != 0};
}

void ApplyVariation(const Augmentation& augmentation, const Variation& variation,
                    const ImageShape& shape, std::span<const uint8_t> image,
                    std::span<uint8_t> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  for (int64_t y = 0; y < shape.height; ++y) {
    const int64_t from_y = y + variation.top - augmentation.padding;
    if (from_y < 0 || from_y >= shape.height) continue;
    for (int64_t x = 0; x < shape.width; ++x) {
      const int64_t cropped_x = variation.mirrored ? shape.width - 1 - x : x;
      const int64_t from_x = cropped_x + variation.left - augmentation.padding;
      if (from_x < 0 || from_x >= shape.width) continue;
      std::copy_n(&image[(from_y * shape.width + from_x) * shape.channels], shape.channels,
                  &out[(y * shape.width + x) * shape.channels]);
    }
  }
}

}  // namespace grapevine
