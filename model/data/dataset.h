// Labelled images, in memory or in files that are decoded on demand.
//
// Images are bytes, as files have them, and become normalized floats batch by
// batch: a quarter of the memory, and augmentation works on bytes. Only what a file has as floats
// stays so.
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

// Per channel, of bytes scaled to [0, 1], or of floats: x <- (x - mean) / deviation.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

// Properties of every image of a data set.
struct DatasetTraits {
  std::string name;
  ImageShape shape;
  // Pixels are floats of this machine instead of bytes.
  bool floats = false;
  int64_t classes = 0;
  Normalization normalization;
  // How training batches vary these images.
  Augmentation augmentation;

  // Of an image as the data set has it.
  int64_t image_bytes() const {
    return shape.size() * static_cast<int64_t>(floats ? sizeof(float) : 1);
  }
};

// A class's number; at most kMaxClasses classes.
using Label = uint16_t;
inline constexpr int64_t kMaxClasses = int64_t{1} << 16;

// Memory that calls reuse. Thread-compatible: one for each thread.
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

  // Image i, 0 <= i < size(), without variation: (height, width, channels) bytes
  // (or the bytes of as many floats), there until `scratch` is used again. Errors carry
  // Failure::kInput and name the file.
  virtual absl::StatusOr<std::span<const uint8_t>> Image(int64_t i,
                                                         ImageScratch* scratch) const = 0;
  // The same as a training batch shows it: traits().augmentation, drawn from
  // 64 random bits.
  virtual absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                               ImageScratch* scratch) const = 0;
  // Whether an image is so expensive that several threads should fill a batch.
  virtual bool decodes() const = 0;

  // Continues the CRC-32C `crc` with everything that distinguishes this data set, except its
  // normalization.
  virtual uint32_t Checksum(uint32_t crc) const = 0;
  // Its size in memory.
  virtual int64_t bytes() const = 0;

 protected:
  // Labels are below traits.classes: whoever reads files checks that.
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
  // `pixels` are channels last, image after image: traits.image_bytes() for each of
  // `labels`.
  MemoryDataset(DatasetTraits traits, std::vector<uint8_t> pixels, std::vector<Label> labels);

  // Never fails; a view of the data set's own memory.
  absl::StatusOr<std::span<const uint8_t>> Image(int64_t i, ImageScratch* scratch) const override;
  absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                       ImageScratch* scratch) const override;
  bool decodes() const override { return false; }
  // The CRC-32C of pixels and labels.
  uint32_t Checksum(uint32_t crc) const override;
  int64_t bytes() const override;

 private:
  std::span<const uint8_t> Pixels(int64_t i) const;

  const std::vector<uint8_t> pixels_;
};

// Refuses a label of the file at `path` that is not below `classes`, by its position there.
// Errors carry Failure::kInput.
absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes);

// The contents of a data set, as text that two machines can compare: each may keep its files in
// another place. "mnist: 60000 + 10000 images of 28x28x1 in 10 classes, checksum 5f0c3d2e":
// equal for equal pixels, labels, normalization and augmentation, in the same order; for images
// in files, for equal names and sizes of files. The checksum is a CRC-32C over all of them.
std::string DescribeContents(const TrainTest& data);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_H_
