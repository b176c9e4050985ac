// Random variations of training images: shifted by padding and cropping, mirrored.
//
// The standard augmentation for CIFAR-10 (He et al. 2016, section 4.2): 4 black
// pixels on each side, a random crop of the original size, a mirror image for
// every second. That for ImageNet is in resized_crop.h.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
#define GRAPEVINE_MODEL_DATA_AUGMENTATION_H_

#include <cstdint>
#include <span>

#include "model/data/batch.h"

namespace grapevine {

struct Augmentation {
  int64_t padding = 0;  // pixels on each side; 0 is no shift
  bool mirror = false;
  bool resized_crop = false;  // of images in files alone

  bool none() const { return padding == 0 && !mirror && !resized_crop; }
};

// One draw: where the crop begins in the padded image, 0 .. 2 * padding.
struct Variation {
  int64_t top = 0;
  int64_t left = 0;
  bool mirrored = false;
};

// Derives a variation from 64 random bits.
Variation DrawVariation(const Augmentation& augmentation, uint64_t bits);

// out <- the crop of `image` padded with zeros, mirrored if asked. Both are
// (height, width, channels) bytes and do not overlap.
void ApplyVariation(const Augmentation& augmentation, const Variation& variation,
                    const ImageShape& shape, std::span<const uint8_t> image,
                    std::span<uint8_t> out);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
