#include "model/data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "random/portable_math.h"

namespace grapevine {
namespace {

// Returns a uniform number in [0, n) from 24 bits. The bias is below n / 2^24.
int64_t Scale(uint64_t bits, int64_t n) {
  return static_cast<int64_t>(((bits & 0xffffff) * static_cast<uint64_t>(n)) >> 24);
}

constexpr double kSmallestArea = 0.08;
constexpr double kWidestAspect = 4.0 / 3;
constexpr int kDraws = 10;

// Weights are integers, so that sums are the same in any order.
constexpr int kWeightBits = 22;

// Draws the place of a crop of these extents.
CropBox PlaceCrop(int64_t width, int64_t height, int64_t crop_width, int64_t crop_height,
                  KeyedRandom* random) {
  const uint64_t top = random->Below(static_cast<uint64_t>(height - crop_height + 1));
  const uint64_t left = random->Below(static_cast<uint64_t>(width - crop_width + 1));
  return {static_cast<double>(left), static_cast<double>(top), static_cast<double>(crop_width),
          static_cast<double>(crop_height)};
}

// Returns the largest centred part with an allowed aspect ratio.
CropBox LargestCrop(double width, double height) {
  const double crop_width = std::min(width, height * kWidestAspect);
  const double crop_height = std::min(height, width * kWidestAspect);
  return {(width - crop_width) / 2, (height - crop_height) / 2, crop_width, crop_height};
}

// The pixels along one axis that make up each pixel of the result, and their weights.
class Taps {
 public:
  Taps(int64_t extent, double begin, double length, int64_t size) : ranges_(size) {
    const double step = length / static_cast<double>(size);
    const double reach = std::max(step, 1.0);
    for (int64_t i = 0; i < size; ++i) {
      AddRange(extent, begin + (static_cast<double>(i) + 0.5) * step, reach,
               &ranges_[static_cast<size_t>(i)]);
    }
  }

  struct Range {
    int64_t first = 0;
    int64_t count = 0;
    size_t weights = 0;  // index of the first weight
  };
  const Range& range(int64_t i) const { return ranges_[static_cast<size_t>(i)]; }
  const int32_t* weights(const Range& range) const { return &weights_[range.weights]; }
  // The pixels that any range needs are first() .. end() - 1.
  int64_t first() const { return ranges_.front().first; }
  int64_t end() const { return ranges_.back().first + ranges_.back().count; }

 private:
  void AddRange(int64_t extent, double centre, double reach, Range* range) {
    const auto first = std::max<int64_t>(0, std::llround(std::floor(centre - reach + 0.5)));
    const auto end = std::min(extent, static_cast<int64_t>(std::floor(centre + reach + 0.5)));
    // The centre lies inside of the image, and so does the pixel around it: the range is not empty.
    *range = {first, end - first, weights_.size()};
    double sum = 0;
    triangle_.clear();
    for (int64_t pixel = first; pixel < end; ++pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre) / reach;
      triangle_.push_back(std::max(0.0, 1 - distance));
      sum += triangle_.back();
    }
    for (const double weight : triangle_) {
      weights_.push_back(static_cast<int32_t>(std::floor(weight / sum * (1 << kWeightBits) + 0.5)));
    }
  }

  std::vector<Range> ranges_;
  std::vector<int32_t> weights_;
  std::vector<double> triangle_;
};

uint8_t ToByte(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// Resizes one row of the image to `size` pixels.
void NarrowRow(const uint8_t* row, const Taps& columns, int64_t size, bool mirrored, uint8_t* out) {
  for (int64_t x = 0; x < size; ++x) {
    const Taps::Range& range = columns.range(x);
    const int32_t* weights = columns.weights(range);
    const uint8_t* pixel = row + 3 * range.first;
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int64_t k = 0; k < range.count; ++k, pixel += 3) {
      red += weights[k] * pixel[0];
      green += weights[k] * pixel[1];
      blue += weights[k] * pixel[2];
    }
    uint8_t* to = out + 3 * (mirrored ? size - 1 - x : x);
    to[0] = ToByte(red);
    to[1] = ToByte(green);
    to[2] = ToByte(blue);
  }
}

// Computes one row of the result from the narrowed rows of its range.
void MixRows(const uint8_t* rows, const Taps::Range& range, const int32_t* weights, int64_t bytes,
             uint8_t* out) {
  for (int64_t i = 0; i < bytes; ++i) {
    int32_t sum = kHalf;
    for (int64_t k = 0; k < range.count; ++k) sum += weights[k] * rows[k * bytes + i];
    out[i] = ToByte(sum);
  }
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

CropBox DrawCrop(int64_t width, int64_t height, KeyedRandom* random) {
  const double area = static_cast<double>(width) * static_cast<double>(height);
  const double widest = PortableLog(kWidestAspect);
  for (int draw = 0; draw < kDraws; ++draw) {
    const double target = area * (kSmallestArea + (1 - kSmallestArea) * random->Unit());
    const double aspect = PortableExp(widest * (2 * random->Unit() - 1));
    const int64_t crop_width = std::llround(std::sqrt(target * aspect));
    const int64_t crop_height = std::llround(std::sqrt(target / aspect));
    if (crop_width < 1 || crop_height < 1 || crop_width > width || crop_height > height) continue;
    return PlaceCrop(width, height, crop_width, crop_height, random);
  }
  return LargestCrop(static_cast<double>(width), static_cast<double>(height));
}

CropBox CentreCrop(int64_t width, int64_t height, int64_t size, int64_t resize) {
  const auto shorter = static_cast<double>(std::min(width, height));
  const double side = shorter * static_cast<double>(size) / static_cast<double>(resize);
  return {(static_cast<double>(width) - side) / 2, (static_cast<double>(height) - side) / 2, side,
          side};
}

void ResizeCrop(const RgbImage& image, const CropBox& box, int64_t size, bool mirrored,
                std::vector<uint8_t>* narrowed, std::span<uint8_t> out) {
  const Taps columns(image.width, box.left, box.width, size);
  const Taps rows(image.height, box.top, box.height, size);
  const int64_t bytes = 3 * size;
  narrowed->resize(static_cast<size_t>((rows.end() - rows.first()) * bytes));
  for (int64_t y = rows.first(); y < rows.end(); ++y) {
    NarrowRow(&image.pixels[static_cast<size_t>(y * image.width * 3)], columns, size, mirrored,
              narrowed->data() + (y - rows.first()) * bytes);
  }
  for (int64_t y = 0; y < size; ++y) {
    const Taps::Range& range = rows.range(y);
    MixRows(narrowed->data() + (range.first - rows.first()) * bytes, range, rows.weights(range),
            bytes, &out[static_cast<size_t>(y * bytes)]);
  }
}

}  // namespace grapevine
