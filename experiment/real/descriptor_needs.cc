#include "experiment/real/descriptor_needs.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/status.h"
#include "experiment/core/setting_checks.h"
#include "node/server/grpc_server.h"
#include "run/config/config.pb.h"
#include "system/descriptor_limit.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

// A process without neighbours has libraries, logs, the files of a run and gRPC's own open.
constexpr int64_t kOwn = 32;
// A neighbour takes a connection to it, and one from it.
constexpr int64_t kOfEdge = 2;
// A launcher has a node's two outputs open, and the pipe by which it reports.
constexpr int64_t kOfChild = 3;
// Every kind of allreduce has at least two partners; some have more.
constexpr Rank kPartners = 2;

Rank MostNeighbours(const Topology& topology) {
  std::vector<Rank> neighbours;
  size_t most = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    std::set<Rank> all;
    for (Round round = 0; round < topology.shown_rounds(); ++round) {
      topology.OutNeighbours(rank, round, &neighbours);
      all.insert(neighbours.begin(), neighbours.end());
      topology.InNeighbours(rank, round, &neighbours);
      all.insert(neighbours.begin(), neighbours.end());
    }
    most = std::max(most, all.size());
  }
  return static_cast<Rank>(most);
}

Rank MostNeighbours(const Experiment& experiment) {
  const bool has_servers = experiment.workers() < experiment.config().nodes();
  if (has_servers) return experiment.workers();
  if (!UsesGraph(experiment.config())) return kPartners;
  return MostNeighbours(experiment.mixing().topology());
}

// Returns the limit for a node with this many neighbours. The node may be rank 0, which hears from
// all nodes.
int64_t Needed(Rank nodes, Rank neighbours) {
  return GrpcAcceptor::LimitFor(kOwn + kOfEdge * neighbours + nodes);
}

absl::Status Provide(int64_t needed, const Config& config) {
  RaiseDescriptorLimit();
  const int64_t granted = DescriptorLimit();
  if (granted >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a process of this run, of ", config.nodes(), " nodes with --topology=", config.topology(),
      " --algorithm=", config.algorithm(), ", may need ", needed,
      " descriptors, and the system grants it ", granted,
      ": raise the limit (`ulimit -Hn`, LimitNOFILE=), or take fewer nodes or neighbours"));
}

}  // namespace

int64_t DescriptorsNeeded(const Topology& topology) {
  return Needed(topology.size(), MostNeighbours(topology));
}

absl::Status ProvideDescriptors(const Experiment& experiment) {
  const Config& config = experiment.config();
  return Provide(Needed(config.nodes(), MostNeighbours(experiment)), config);
}

absl::Status ProvideDescriptorsOfLauncher(const Experiment& experiment) {
  const Config& config = experiment.config();
  RETURN_IF_ERROR(ProvideDescriptors(experiment));
  return Provide(kOwn + kOfChild * config.nodes(), config);
}

}  // namespace grapevine
