// The registration of data sets, and a function that reads the data set of a spec.
//
// As in every spec, colons are separators: for a folder with a colon in its name, use a
// symbolic link.
//
// A data set of your own registers like those of this folder, and `--data=NAME:key=value` finds it;
// see docs/data.md.
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

// The registry of all data sets of this program.
Registry<DatasetKind>& Datasets();

// Returns the error for a spec that must name a folder and names none.
absl::Status FolderMissingError(const Spec& spec);

// Reads the data set that `spec` names. Errors about the spec carry Failure::kUsage, errors about
// files Failure::kInput.
absl::StatusOr<TrainTest> MakeDataset(std::string_view spec);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_DATASET_KIND_H_
