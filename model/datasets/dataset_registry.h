// Data sets by their specs: the built-in ones, and those that a program adds.
//
//   mnist:DIR        the four IDX files, plain or .gz
//   cifar10:DIR      the binary version; augment=yes (the default) or no
//   image-folder:DIR JPEG files as ImageNet's, DIR/train/CLASS/*.jpg and DIR/val/...;
//                    size=224, resize=256, augment=yes (the default) or no,
//                    classes=N (only the first N)
//   synthetic        built in; train=10000, test=2000, seed=1
//
// As in every spec, colons are separators: for a folder with a colon in its name, use a
// symbolic link.
//
// A data set is a function that reads it. One of your own registers like those of this
// folder, and `--data=NAME:key=value` finds it. See docs/data.md.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_MODEL_DATASETS_DATASET_REGISTRY_H_
#define GRAPEVINE_MODEL_DATASETS_DATASET_REGISTRY_H_

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

#endif  // GRAPEVINE_MODEL_DATASETS_DATASET_REGISTRY_H_
