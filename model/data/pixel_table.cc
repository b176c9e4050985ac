#include "model/data/pixel_table.h"

#include <cstddef>

namespace grapevine {

PixelTable::PixelTable(const Normalization& normalization) : channels_(normalization.mean.size()) {
  for (size_t c = 0; c < channels_.size(); ++c) {
    for (size_t byte = 0; byte < 256; ++byte) {
      channels_[c][byte] =
          (static_cast<float>(byte) / 255.0f - normalization.mean[c]) / normalization.deviation[c];
    }
  }
}

void PixelTable::Normalize(std::span<const uint8_t> pixels, float* out) const {
  for (size_t i = 0; i < pixels.size();) {
    for (const std::array<float, 256>& channel : channels_) {
      out[i] = channel[pixels[i]];
      ++i;
    }
  }
}

}  // namespace grapevine
