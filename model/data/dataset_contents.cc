#include "model/data/dataset_contents.h"

#include <span>

#include "absl/strings/str_cat.h"
#include "kernels/passes/crc32c.h"

namespace grapevine {
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
