#include "model/data/dataset.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <utility>

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

}  // namespace grapevine
