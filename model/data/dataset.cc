#include "model/data/dataset.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/passes/crc32c.h"

namespace grapevine {

Dataset::Dataset(DatasetTraits traits, std::vector<Label> labels)
    : traits_(std::move(traits)), labels_(std::move(labels)) {
  const auto channels = static_cast<size_t>(traits_.shape.channels);
  CHECK_LE(traits_.classes, kMaxClasses);
  CHECK_EQ(traits_.normalization.mean.size(), channels);
  CHECK_EQ(traits_.normalization.deviation.size(), channels);
  CHECK(std::all_of(labels_.begin(), labels_.end(),
                    [&](Label label) { return label < traits_.classes; }));
}

MemoryDataset::MemoryDataset(DatasetTraits traits, std::vector<uint8_t> pixels,
                             std::vector<Label> labels)
    : Dataset(std::move(traits), std::move(labels)), pixels_(std::move(pixels)) {
  CHECK_EQ(static_cast<int64_t>(pixels_.size()), size() * this->traits().image_bytes());
}

absl::StatusOr<std::span<const uint8_t>> MemoryDataset::Image(int64_t i, ImageScratch*) const {
  return Pixels(i);
}

absl::StatusOr<std::span<const uint8_t>> MemoryDataset::VariedImage(int64_t i, uint64_t bits,
                                                                    ImageScratch* scratch) const {
  const Augmentation& augmentation = traits().augmentation;
  if (augmentation.none()) return Pixels(i);
  // Augmentation only moves pixels, so that it can treat a float as several channels of bytes.
  ImageShape shape = traits().shape;
  shape.channels = traits().image_bytes() / (shape.height * shape.width);
  scratch->image.resize(static_cast<size_t>(shape.size()));
  ApplyVariation(augmentation, DrawVariation(augmentation, bits), shape, Pixels(i), scratch->image);
  return std::span<const uint8_t>(scratch->image);
}

uint32_t MemoryDataset::Checksum(uint32_t crc) const {
  crc = Crc32c(crc, pixels_.data(), pixels_.size());
  return Crc32c(crc, labels().data(), labels().size_bytes());
}

int64_t MemoryDataset::bytes() const {
  return static_cast<int64_t>(pixels_.size() + labels().size_bytes());
}

std::span<const uint8_t> MemoryDataset::Pixels(int64_t i) const {
  const auto size = static_cast<size_t>(traits().image_bytes());
  return std::span(pixels_).subspan(static_cast<size_t>(i) * size, size);
}

absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      return InputError(path, absl::StrCat("sample ", i, ": expected a label below ", classes,
                                           ", found ", labels[i]));
    }
  }
  return absl::OkStatus();
}

namespace {

uint32_t Add(uint32_t crc, std::span<const float> values) {
  return Crc32c(crc, values.data(), values.size_bytes());
}

uint32_t Add(uint32_t crc, const Dataset& part) {
  crc = part.Checksum(crc);
  const DatasetTraits& traits = part.traits();
  crc = Add(crc, traits.normalization.mean);
  return Add(crc, traits.normalization.deviation);
}

std::string Augmented(const Augmentation& augmentation) {
  std::string text;
  if (augmentation.resized_crop) absl::StrAppend(&text, ", cropped and resized");
  if (augmentation.padding > 0) absl::StrAppend(&text, ", padded by ", augmentation.padding);
  if (augmentation.mirror) absl::StrAppend(&text, ", mirrored");
  return text;
}

}  // namespace

std::string DescribeContents(const TrainTest& data) {
  const DatasetTraits& traits = data.train->traits();
  const ImageShape& shape = traits.shape;
  return absl::StrCat(traits.name, ": ", data.train->size(), " + ", data.test->size(),
                      " images of ", shape.height, "x", shape.width, "x", shape.channels, " in ",
                      traits.classes, " classes", Augmented(traits.augmentation), ", checksum ",
                      absl::Hex(Add(Add(0, *data.train), *data.test), absl::kZeroPad8));
}

}  // namespace grapevine
