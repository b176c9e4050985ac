// The synchronous parameter server by name.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/server/parameter_servers.h"
#include "algorithm/server/ps_server.h"
#include "algorithm/server/ps_worker.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

absl::StatusOr<std::unique_ptr<Algorithm>> MakePs(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const ParameterServers servers,
                   ParameterServers::Parse(spec, options.mixing->topology().size()));
  if (servers.IsServer(options.rank)) {
    return std::make_unique<PsServer>(servers, std::move(options));
  }
  return std::make_unique<PsWorker>(servers, std::move(options));
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, nodes));
  return servers.workers();
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, topology.size()));
  return 2.0 * servers.workers() * servers.servers();
}

// A server has a place for every worker's gradient.
int64_t Memory(const Spec&, const Topology& topology) { return topology.size() + 3; }

std::vector<std::string> Advised(Rank nodes) {
  std::vector<std::string> specs;
  for (const Rank servers : std::set<Rank>{1, nodes / 4, nodes / 2}) {
    if (servers < 1 || servers >= nodes) continue;
    specs.push_back(absl::StrCat("ps:servers=", servers));
  }
  return specs;
}

const Registration kPs(
    Algorithms(),
    {.name = "ps",
     .options = "[:servers=S]",
     .help = "a synchronous parameter server: the last S ranks are servers, the others train",
     .examples = {"ps", "ps:servers=2"},
     .centralized = true,
     .make = MakePs,
     .workers = Workers,
     .messages = Messages,
     .memory = Memory,
     .advised = Advised});

}  // namespace
}  // namespace grapevine
