// Labelled images in memory.
//
// Pixels stay bytes, as the files have them, and become normalized floats batch
// by batch: a quarter of the memory, and augmentation works on bytes.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_MODEL_DATASET_H_
#define GRAPEVINE_MODEL_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/augmentation.h"
#include "model/batch.h"

namespace grapevine {

// Per channel, of pixels scaled to [0, 1]: x <- (x - mean) / deviation.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

// What is true of every image of a data set.
struct DatasetTraits {
  std::string name;
  ImageShape shape;
  int64_t classes = 0;
  Normalization normalization;
  // How training batches vary these images.
  Augmentation augmentation;
};

class Dataset {
 public:
  // `pixels` are channels last, image after image: shape.size() bytes for each
  // of `labels`, which are below `classes`. Whoever reads files checks that.
  Dataset(DatasetTraits traits, std::vector<uint8_t> pixels, std::vector<uint8_t> labels);

  const DatasetTraits& traits() const { return traits_; }
  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  // (height, width, channels) bytes.
  std::span<const uint8_t> pixels(int64_t i) const {
    const auto size = static_cast<size_t>(traits_.shape.size());
    return std::span(pixels_).subspan(static_cast<size_t>(i) * size, size);
  }
  std::span<const uint8_t> labels() const { return labels_; }
  // What it occupies in memory.
  int64_t bytes() const { return static_cast<int64_t>(pixels_.size() + labels_.size()); }

 private:
  DatasetTraits traits_;
  std::vector<uint8_t> pixels_;
  std::vector<uint8_t> labels_;
};

// The two parts of a data set, with the same traits.
struct TrainTest {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASET_H_
