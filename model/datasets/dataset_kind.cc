#include "model/datasets/dataset_kind.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

Registry<DatasetKind>& Datasets() {
  static auto* const datasets = new Registry<DatasetKind>("data set");
  return *datasets;
}

absl::Status FolderMissingError(const Spec& spec) {
  return SpecError(spec.text, absl::StrCat("expected a folder, as in ", spec.name, ":DIR"));
}

absl::StatusOr<TrainTest> MakeDataset(std::string_view text) {
  ASSIGN_OR_RETURN(const auto named, Datasets().Read(text));
  return named.kind->read(named.spec);
}

}  // namespace grapevine
