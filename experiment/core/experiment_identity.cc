#include "experiment/core/experiment_identity.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "kernels/passes/crc32c.h"
#include "kernels/passes/instruction_set.h"
#include "model/data/dataset.h"
#include "model/problem/problem.h"
#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "run/records/revision.h"
#include "run/timing/compute_profile.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

std::string Checksum(uint32_t crc) {
  return absl::StrCat("checksum ", absl::Hex(crc, absl::kZeroPad8));
}

template <typename Value>
void Extend(const Value& value, uint32_t* crc) {
  *crc = Crc32c(*crc, &value, sizeof(value));
}

bool FromFile(const std::string& spec) { return absl::StrContains(spec, "file:"); }

// A graph file describes one graph for all rounds.
std::string MixingIdentity(const Experiment& experiment) {
  const Mixing& mixing = experiment.mixing();
  if (!FromFile(mixing.name())) return mixing.name();
  uint32_t crc = 0;
  MixingRow row;
  for (Rank rank = 0; rank < mixing.topology().size(); ++rank) {
    mixing.Row(rank, 0, &row);
    Extend(row.self, &crc);
    for (const Neighbour& neighbour : row.in) {
      Extend(neighbour.rank, &crc);
      Extend(neighbour.weight, &crc);
    }
  }
  return absl::StrCat("from a file, ", Checksum(crc));
}

absl::StatusOr<std::string> ComputeIdentity(const std::string& compute) {
  ASSIGN_OR_RETURN(const std::optional<DeviceProfile> device, ProfiledDevice(compute));
  if (!device) return compute;
  uint32_t crc = 0;
  for (const int64_t time : device->gradient_ns()) Extend(time, &crc);
  return absl::StrCat("from a profile, ", Checksum(crc));
}

absl::StatusOr<std::string> StartIdentity(const Experiment& experiment) {
  const Config& config = experiment.config();
  if (!config.has_init_from() && config.model() != kOutsideModel) return std::string();
  std::vector<float> replica(experiment.layout().size);
  RETURN_IF_ERROR(experiment.Initialize(replica.data()));
  return absl::StrCat("weights with ",
                      Checksum(Crc32c(0, replica.data(), replica.size() * sizeof(float))));
}

}  // namespace

std::string GraphIdentity(const Experiment& experiment) {
  const Topology& topology = experiment.mixing().topology();
  if (!FromFile(topology.name())) return topology.name();
  uint32_t crc = 0;
  size_t edges = 0;
  std::vector<Rank> neighbours;
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    topology.InNeighbours(rank, 0, &neighbours);
    Extend(neighbours.size(), &crc);
    for (const Rank neighbour : neighbours) Extend(neighbour, &crc);
    edges += neighbours.size();
  }
  return absl::StrCat("from a file, ", edges / 2, " edges, ", Checksum(crc));
}

absl::StatusOr<std::vector<IdentityItem>> IdentityOf(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::string start, StartIdentity(experiment));
  const Config& config = experiment.config();
  ASSIGN_OR_RETURN(const std::string compute,
                   config.has_compute() ? ComputeIdentity(config.compute()) : std::string());
  std::vector<IdentityItem> items;
  const std::vector<std::string> lines =
      absl::StrSplit(ExperimentText(config), '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const std::pair<std::string, std::string> setting =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    IdentityItem& item = items.emplace_back(IdentityItem{setting.first, setting.second});
    if (item.name == "topology") item.value = GraphIdentity(experiment);
    if (item.name == "mixing") item.value = MixingIdentity(experiment);
    if (item.name == "init_from") {
      item.value = start;
      if (config.model() == kOutsideModel) item.name = "starting weights";
    }
    if (item.name == "planned_nodes" && PlannedNodes(config) == config.nodes()) item.value = "";
    if (item.name == "compute") item.value = compute;
    if (item.name == "data") {
      const TrainTest* data = experiment.problem().data();
      item.value = data != nullptr ? DescribeContents(*data) : "";
    }
  }
  items.push_back(
      {"layout of the replica", absl::StrCat(absl::Hex(experiment.layout().Fingerprint()))});
  return items;
}

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
