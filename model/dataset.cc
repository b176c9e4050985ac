#include "model/dataset.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace grapevine {

Dataset::Dataset(DatasetTraits traits, std::vector<uint8_t> pixels, std::vector<uint8_t> labels)
    : traits_(std::move(traits)), pixels_(std::move(pixels)), labels_(std::move(labels)) {
  const auto channels = static_cast<size_t>(traits_.shape.channels);
  CHECK_EQ(pixels_.size(), labels_.size() * static_cast<size_t>(traits_.shape.size()));
  CHECK_EQ(traits_.normalization.mean.size(), channels);
  CHECK_EQ(traits_.normalization.deviation.size(), channels);
  CHECK(std::all_of(labels_.begin(), labels_.end(),
                    [&](uint8_t label) { return label < traits_.classes; }));
}

}  // namespace grapevine
