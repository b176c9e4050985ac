// Data sets by their specs.
//
//   mnist:DIR        the four IDX files, plain or .gz
//   cifar10:DIR      the binary version; augment=yes (the default) or no
//   synthetic        built in; train=10000, test=2000, seed=1
//
// As in every spec colons separate: a folder whose name contains one is reached
// through a symbolic link.
#ifndef GRAPEVINE_MODEL_DATASET_REGISTRY_H_
#define GRAPEVINE_MODEL_DATASET_REGISTRY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "model/dataset.h"

namespace grapevine {

// Errors about the spec carry Failure::kUsage, errors about files Failure::kInput.
absl::StatusOr<TrainTest> MakeDataset(std::string_view spec);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASET_REGISTRY_H_
