#include "model/datasets/dataset_registry.h"

#include <glog/logging.h>

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "model/datasets/cifar10.h"
#include "model/datasets/idx.h"
#include "model/datasets/image_folder.h"
#include "model/datasets/synthetic.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

constexpr int64_t kMaxSamples = 10'000'000;

absl::Status FolderMissing(const Spec& spec) {
  return SpecError(spec.text, absl::StrCat("expected a folder, as in ", spec.name, ":DIR"));
}

absl::StatusOr<TrainTest> MakeMnist(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissing(spec);
  return ReadMnist(folder);
}

absl::StatusOr<TrainTest> MakeCifar10(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  const bool augment = reader.Choice("augment", {"yes", "no"}) == "yes";
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissing(spec);
  return ReadCifar10(folder, augment ? Augmentation{.padding = 4, .mirror = true} : Augmentation{});
}

absl::StatusOr<TrainTest> MakeImageFolder(const Spec& spec) {
  SpecReader reader(spec);
  ImageFolderOptions options;
  const std::string folder = reader.Argument();
  options.size = reader.Integer("size", options.size, 8, 4096);
  // The usual proportion: 256 for 224.
  options.resize = reader.Integer("resize", options.size * 8 / 7, options.size, 8192);
  options.augment = reader.Choice("augment", {"yes", "no"}) == "yes";
  options.most_classes = reader.Integer("classes", options.most_classes, 2, kMaxClasses);
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissing(spec);
  return ReadImageFolder(folder, options);
}

absl::StatusOr<TrainTest> MakeSyntheticFrom(const Spec& spec) {
  SpecReader reader(spec);
  SyntheticOptions options;
  options.train = reader.Integer("train", options.train, 1, kMaxSamples);
  options.test = reader.Integer("test", options.test, 1, kMaxSamples);
  options.seed =
      static_cast<uint64_t>(reader.Integer("seed", static_cast<int64_t>(options.seed), 0));
  RETURN_IF_ERROR(reader.Finish());
  return MakeSynthetic(options);
}

class Registry {
 public:
  void Add(std::string name, ReadDataset read) {
    const MutexLock lock(mutex_);
    const bool added = datasets_.emplace(name, std::move(read)).second;
    CHECK(added) << "data set " << name << " is registered twice";
  }

  ReadDataset Find(const std::string& name) const {
    const MutexLock lock(mutex_);
    const auto found = datasets_.find(name);
    return found == datasets_.end() ? nullptr : found->second;
  }

  std::vector<std::string> Names() const {
    const MutexLock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, read] : datasets_) names.push_back(name);
    return names;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, ReadDataset> datasets_ ABSL_GUARDED_BY(mutex_) = {
      {"cifar10", MakeCifar10},
      {"image-folder", MakeImageFolder},
      {"mnist", MakeMnist},
      {"synthetic", MakeSyntheticFrom},
  };
};

Registry& TheRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

}  // namespace

void RegisterDataset(std::string name, ReadDataset read) {
  TheRegistry().Add(std::move(name), std::move(read));
}

std::vector<std::string> DatasetNames() { return TheRegistry().Names(); }

absl::StatusOr<TrainTest> MakeDataset(std::string_view text) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  const ReadDataset read = TheRegistry().Find(spec.name);
  if (read == nullptr) {
    return SpecError(
        text, absl::StrCat("unknown data set; known are ", absl::StrJoin(DatasetNames(), ", ")));
  }
  return read(spec);
}

}  // namespace grapevine
