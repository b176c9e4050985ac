// A data set's registration, a function that reads it, and data sets by their specs.
//
// As in every spec, colons are separators: for a folder with a colon in its name, use a
// symbolic link.
//
// One of your own registers like those of this folder, and `--data=NAME:key=value` finds it:
// docs/data.md.
//
// Thread-safety: a kind is immutable once registered; functions are safe from any thread.
#ifndef GRAPEVINE_MODEL_DATASETS_DATASET_KIND_H_
#define GRAPEVINE_MODEL_DATASETS_DATASET_KIND_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "model/data/dataset.h"

namespace grapevine {

// Reads the data set of a spec; refuses unknown options.
using ReadDataset = std::function<absl::StatusOr<TrainTest>(const Spec& spec)>;

struct DatasetKind {
  std::string name;     // "mnist"
  std::string options;  // ":DIR"
  std::string help;     // one line
  ReadDataset read;
};

// All data sets of this program.
Registry<DatasetKind>& Datasets();

// For readers of a folder, whose spec names none.
absl::Status FolderMissingError(const Spec& spec);

// Errors about the spec carry Failure::kUsage, errors about files Failure::kInput.
absl::StatusOr<TrainTest> MakeDataset(std::string_view spec);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_DATASET_KIND_H_
