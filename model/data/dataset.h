// Labelled images, in memory or in files that are decoded on demand.
//
// Images are kept as bytes, as files contain them, and become normalized floats batch by batch.
// Bytes take a quarter of the memory, and augmentation works on them. Images that a file contains
// as floats stay floats.
//
// Thread-safety: immutable, safe from any thread; functions are pure.
#ifndef GRAPEVINE_MODEL_DATA_DATASET_H_
#define GRAPEVINE_MODEL_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/augmentation.h"
#include "model/data/batch.h"

namespace grapevine {

// The normalization x <- (x - mean) / deviation, with one value per channel. x is a byte scaled to
// [0, 1], or a float as it is.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

// Properties of every image of a data set.
struct DatasetTraits {
  std::string name;
  ImageShape shape;
  // Whether pixels are floats, in the byte order of this machine, instead of bytes.
  bool floats = false;
  int64_t classes = 0;
  Normalization normalization;
  // How training batches vary the images.
  Augmentation augmentation;

  // Returns the bytes of one image as the data set keeps it.
  int64_t image_bytes() const {
    return shape.size() * static_cast<int64_t>(floats ? sizeof(float) : 1);
  }
};

// The number of a class, below kMaxClasses.
using Label = uint16_t;
inline constexpr int64_t kMaxClasses = int64_t{1} << 16;

// Scratch memory that calls reuse. Thread-compatible: each thread needs its own.
struct ImageScratch {
  std::vector<uint8_t> image;
  std::vector<uint8_t> decoded;
  std::vector<uint8_t> narrowed;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  const DatasetTraits& traits() const { return traits_; }
  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  std::span<const Label> labels() const { return labels_; }

  // Returns image i, 0 <= i < size(), without variation: (height, width, channels) bytes, or the
  // bytes of as many floats. They are valid until `scratch` is used again. Errors carry
  // Failure::kInput and name the file.
  virtual absl::StatusOr<std::span<const uint8_t>> Image(int64_t i,
                                                         ImageScratch* scratch) const = 0;
  // Returns image i as a training batch shows it: varied by traits().augmentation, which draws from
  // the 64 random `bits`. Otherwise like Image.
  virtual absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                               ImageScratch* scratch) const = 0;
  // Whether images are decoded, which is so expensive that several threads should fill a batch.
  virtual bool decodes() const = 0;

  // Continues the CRC-32C `crc` with everything that distinguishes this data set, except its
  // normalization.
  virtual uint32_t Checksum(uint32_t crc) const = 0;
  // Returns the size of the data set in memory.
  virtual int64_t bytes() const = 0;

 protected:
  // Labels must be below traits.classes; code that reads files checks that.
  Dataset(DatasetTraits traits, std::vector<Label> labels);

 private:
  const DatasetTraits traits_;
  const std::vector<Label> labels_;
};

// The two parts of a data set, with the same traits.
struct TrainTest {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

// A data set whose images are all in memory.
class MemoryDataset final : public Dataset {
 public:
  // `pixels` are channels last, image after image, with traits.image_bytes() bytes for each of
  // `labels`.
  MemoryDataset(DatasetTraits traits, std::vector<uint8_t> pixels, std::vector<Label> labels);

  // Returns a view of the data set's own memory; never fails.
  absl::StatusOr<std::span<const uint8_t>> Image(int64_t i, ImageScratch* scratch) const override;
  absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                       ImageScratch* scratch) const override;
  bool decodes() const override { return false; }
  // Covers pixels and labels.
  uint32_t Checksum(uint32_t crc) const override;
  int64_t bytes() const override;

 private:
  std::span<const uint8_t> Pixels(int64_t i) const;

  const std::vector<uint8_t> pixels_;
};

// Refuses labels of the file at `path` that are not below `classes`. Errors carry Failure::kInput
// and name the position of the first such label.
absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes);

// Describes the contents of a data set as text that two machines can compare, even if they keep its
// files in different places: "mnist: 60000 + 10000 images of 28x28x1 in 10 classes, checksum
// 5f0c3d2e". Texts are equal for equal pixels, labels, normalization and augmentation, in the same
// order; for images in files, equal names and sizes of files take the place of equal pixels. The
// checksum is a CRC-32C over all of them.
std::string DescribeContents(const TrainTest& data);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_H_
