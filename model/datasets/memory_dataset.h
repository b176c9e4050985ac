// Labelled images that are all in memory.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_MODEL_DATASETS_MEMORY_DATASET_H_
#define GRAPEVINE_MODEL_DATASETS_MEMORY_DATASET_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

class MemoryDataset final : public Dataset {
 public:
  // `pixels` are channels last, image after image: traits.shape.size() bytes for
  // each of `labels`.
  MemoryDataset(DatasetTraits traits, std::vector<uint8_t> pixels, std::vector<Label> labels);

  // Never fails; a view of the data set's own memory.
  absl::StatusOr<std::span<const uint8_t>> Image(int64_t i, ImageScratch* scratch) const override;
  absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                       ImageScratch* scratch) const override;
  bool decodes() const override { return false; }
  // Of pixels and labels.
  uint32_t Checksum(uint32_t crc) const override;
  int64_t bytes() const override;

 private:
  std::span<const uint8_t> Pixels(int64_t i) const;

  const std::vector<uint8_t> pixels_;
};

// Refuses a label of the file at `path` that is not below `classes`, by its position there.
// Errors carry Failure::kInput.
absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_MEMORY_DATASET_H_
