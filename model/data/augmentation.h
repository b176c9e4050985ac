// Random augmentation of training images, and the crop that evaluation uses instead.
//
// For CIFAR-10 the standard augmentation (He et al. 2016, section 4.2): 4 black pixels on each
// side, a random crop of the original size, a flip with probability 1/2.
//
// For ImageNet the standard pipeline, which makes a square of an image of any size: training
// takes a random crop (Szegedy et al. 2015, arXiv:1409.4842; 8 % to 100 % of the area, aspect
// 3:4 to 4:3, as torchvision's RandomResizedCrop), evaluation the centre of the image whose
// shorter side was resized to a little more than the square.
//
// Every draw and every byte is the same on every machine. Thread-safety: pure functions
// over the caller's memory.
#ifndef GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
#define GRAPEVINE_MODEL_DATA_AUGMENTATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/data/batch.h"
#include "random/keyed_random.h"

namespace grapevine {

struct Augmentation {
  int64_t padding = 0;  // pixels on each side; 0 is no shift
  bool mirror = false;
  bool resized_crop = false;  // only for images in files

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

// A part of an image, in pixels; edges may lie between them.
struct CropBox {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

// Inside of an image of these extents.
CropBox DrawCrop(int64_t width, int64_t height, KeyedRandom* random);

// The part that is `size` x `size` in the centre of an image once its shorter side is `resize`.
CropBox CentreCrop(int64_t width, int64_t height, int64_t size, int64_t resize);

// An image (height, width, 3).
struct RgbImage {
  std::span<const uint8_t> pixels;
  int64_t width = 0;
  int64_t height = 0;
};

// out (size, size, 3) <- the part `box` of `image`, by linear interpolation over two
// pixels of the coarser of both (antialiased, as Pillow's BILINEAR). `narrowed` is
// memory that is reused.
void ResizeCrop(const RgbImage& image, const CropBox& box, int64_t size, bool mirrored,
                std::vector<uint8_t>* narrowed, std::span<uint8_t> out);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
