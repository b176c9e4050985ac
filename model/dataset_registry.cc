#include "model/dataset_registry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "model/cifar10.h"
#include "model/idx.h"
#include "model/synthetic.h"
#include "topology/spec.h"

namespace grapevine {
namespace {

constexpr int64_t kMostSamples = 10'000'000;

absl::Status FolderMissing(const Spec& spec) {
  return SpecError(spec.text, absl::StrCat("expected a folder, as in ", spec.name, ":DIR"));
}

absl::StatusOr<TrainTest> MakeMnist(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  if (folder.empty()) return FolderMissing(spec);
  return ReadMnist(folder);
}

absl::StatusOr<TrainTest> MakeCifar10(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  const bool augment = reader.Choice("augment", {"yes", "no"}) == "yes";
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  if (folder.empty()) return FolderMissing(spec);
  return ReadCifar10(folder, augment ? Augmentation{.padding = 4, .mirror = true} : Augmentation{});
}

absl::StatusOr<TrainTest> MakeSyntheticFrom(const Spec& spec) {
  SpecReader reader(spec);
  SyntheticOptions options;
  options.train = reader.Integer("train", options.train, 1, kMostSamples);
  options.test = reader.Integer("test", options.test, 1, kMostSamples);
  options.seed =
      static_cast<uint64_t>(reader.Integer("seed", static_cast<int64_t>(options.seed), 0));
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return MakeSynthetic(options);
}

}  // namespace

absl::StatusOr<TrainTest> MakeDataset(std::string_view text) {
  const absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->name == "mnist") return MakeMnist(*spec);
  if (spec->name == "cifar10") return MakeCifar10(*spec);
  if (spec->name == "synthetic") return MakeSyntheticFrom(*spec);
  return SpecError(text, "unknown data set; known: mnist:DIR, cifar10:DIR, synthetic");
}

}  // namespace grapevine
