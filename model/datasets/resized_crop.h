// Which part of an image of any extent becomes a square one, and how: the standard
// pipeline for ImageNet.
//
// Training shows a random part (Szegedy et al. 2015, arXiv:1409.4842; 8 % to 100 %
// of the area, aspect 3:4 to 4:3, as torchvision's RandomResizedCrop), evaluation
// the centre of the image whose shorter side has become a little larger than the
// square. Every draw and every byte is the same on every machine.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_MODEL_DATASETS_RESIZED_CROP_H_
#define GRAPEVINE_MODEL_DATASETS_RESIZED_CROP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "random/keyed_random.h"

namespace grapevine {

// A part of an image, in pixels; edges may lie between them.
struct CropBox {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

// Inside of an image of these extents.
CropBox DrawCrop(int64_t width, int64_t height, KeyedRandom* random);

// What is `size` x `size` in the centre of an image once its shorter side is `resize`.
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

#endif  // GRAPEVINE_MODEL_DATASETS_RESIZED_CROP_H_
