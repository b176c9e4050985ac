// Bytes to normalized floats, by a table of 256 values for each channel.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_MODEL_DATA_PIXEL_TABLE_H_
#define GRAPEVINE_MODEL_DATA_PIXEL_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/data/dataset.h"

namespace grapevine {

class PixelTable {
 public:
  explicit PixelTable(const Normalization& normalization);

  // out[i] <- (pixels[i] / 255 - mean) / deviation of its channel; channels last.
  void Normalize(std::span<const uint8_t> pixels, float* out) const;

 private:
  std::vector<std::array<float, 256>> channels_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_PIXEL_TABLE_H_
