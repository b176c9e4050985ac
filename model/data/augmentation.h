// Random augmentation of training images, and the crop that evaluation uses instead.
//
// CIFAR-10 uses the standard augmentation (He et al. 2016, section 4.2): 4 black pixels on each
// side, a random crop of the original size, a flip with probability 1/2.
//
// ImageNet uses the standard pipeline, which makes a square of an image of any size. Training
// takes a random crop (Szegedy et al. 2015, arXiv:1409.4842; 8 % to 100 % of the area, aspect
// 3:4 to 4:3, as torchvision's RandomResizedCrop). Evaluation takes the centre of the image after
// its shorter side is resized to a little more than the square.
//
// Every draw and every byte is the same on every machine.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
#define GRAPEVINE_MODEL_DATA_AUGMENTATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/data/batch.h"
#include "random/keyed_random.h"

namespace grapevine {

struct Augmentation {
  int64_t padding = 0;  // pixels on each side; 0 means no shift
  bool mirror = false;
  bool resized_crop = false;  // only for images in files

  bool none() const { return padding == 0 && !mirror && !resized_crop; }
};

// One draw: the place where the crop begins in the padded image, 0 .. 2 * padding on each axis, and
// whether it is mirrored.
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

// A part of an image, in pixels. Its edges may lie between pixels.
struct CropBox {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

// Draws a crop inside of an image of these extents.
CropBox DrawCrop(int64_t width, int64_t height, KeyedRandom* random);

// Returns the part of an image that becomes its central `size` x `size` pixels when its shorter
// side is resized to `resize` pixels.
CropBox CentreCrop(int64_t width, int64_t height, int64_t size, int64_t resize);

// An image (height, width, 3).
struct RgbImage {
  std::span<const uint8_t> pixels;
  int64_t width = 0;
  int64_t height = 0;
};

// out (size, size, 3) <- the part `box` of `image`, mirrored if asked. Interpolates linearly over
// two pixels of the coarser of both images (antialiased, as Pillow's BILINEAR). `narrowed` is
// scratch memory, which callers pass again to reuse it.
void ResizeCrop(const RgbImage& image, const CropBox& box, int64_t size, bool mirrored,
                std::vector<uint8_t>* narrowed, std::span<uint8_t> out);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_AUGMENTATION_H_
