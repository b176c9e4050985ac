#include "experiment/core/experiment_identity.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "kernels/passes/crc32c.h"
#include "model/data/dataset.h"
#include "run/config/config_file.h"
#include "run/timing/compute_profile.h"

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
  if (!experiment.config().has_init_from()) return std::string();
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
    if (item.name == "init_from") item.value = start;
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

}  // namespace grapevine
