#include "experiment/core/recorded_experiment.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "kernels/passes/instruction_set.h"
#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "run/records/revision.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

std::string Program() { return absl::StrCat("grapevine ", Version(), " (", Revision(), ")"); }

const char* NameOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "AVX2";
    case InstructionSet::kAvx512:
      return "AVX-512";
  }
  return "";
}

std::string Processor() {
  return absl::StrCat(ProcessorName(), ", ", NameOf(BestInstructionSet()));
}

absl::Status CheckSettings(const std::string& file, const RecordingHeader& header,
                           const std::vector<IdentityItem>& identity) {
  if (header.settings_size() != static_cast<int>(identity.size())) {
    return InputError(file,
                      "the settings of the recording are not those of this version; replay "
                      "it with the one that wrote it");
  }
  for (size_t i = 0; i < identity.size(); ++i) {
    const RecordedSetting& recorded = header.settings(static_cast<int>(i));
    if (recorded.name() == identity[i].name && recorded.value() == identity[i].value) continue;
    return InputError(file, absl::StrCat(recorded.name(), " was ", recorded.value(),
                                         " when the run was recorded, and is ", identity[i].value,
                                         " now; restore the file or setting"));
  }
  return absl::OkStatus();
}

}  // namespace

RecordingHeader HeaderOf(const Experiment& experiment, Rank rank,
                         std::span<const IdentityItem> identity) {
  RecordingHeader header;
  header.set_rank(rank);
  header.set_nodes(experiment.config().nodes());
  header.set_config(ConfigFileText(experiment.config()));
  for (const IdentityItem& item : identity) {
    RecordedSetting& setting = *header.add_settings();
    setting.set_name(item.name);
    setting.set_value(item.value);
  }
  header.set_program(Program());
  header.set_processor(Processor());
  return header;
}

absl::StatusOr<std::unique_ptr<Experiment>> RecordedExperiment(const std::string& file,
                                                               const RecordingHeader& header) {
  const std::string name = absl::StrCat(file, " (its config.textproto)");
  ASSIGN_OR_RETURN(const ResolvedConfig resolved,
                   ResolveConfig({.file = name, .text = header.config()}));
  if (resolved.config.nodes() != header.nodes() || resolved.config.device() != "cpu") {
    return InputError(file,
                      "its settings are not those of a run that can be replayed: another "
                      "number of nodes, or a GPU");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Experiment> experiment, Experiment::Build(resolved.config));
  if (!experiment->problem().learns()) {
    return InputError(
        file, absl::StrCat("--model=", resolved.config.model(), " has no weights to compare"));
  }
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(*experiment));
  RETURN_IF_ERROR(CheckSettings(file, header, identity));
  return experiment;
}

std::string DifferentMachine(const RecordingHeader& header) {
  std::string text;
  if (header.program() != Program()) {
    absl::StrAppend(&text, "recorded by ", header.program(), ", replayed by ", Program());
  }
  if (header.processor() != Processor()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", "recorded on ", header.processor(),
                    ", replayed on ", Processor());
  }
  return text;
}

}  // namespace grapevine
