// Whether the processes behind broken connections are still there: the counterpart of PortWatch.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PORT_WATCH_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PORT_WATCH_H_

#include <functional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/simulated_network.h"

namespace grapevine::testing {

class SimulatedPortWatch {
 public:
  // On behalf of `process`; `processes`: by rank, now; outlives it.
  SimulatedPortWatch(SimulatedNetwork* network, Process* process,
                     const std::vector<Process*>* processes, std::function<void(Rank)> on_closed)
      : network_(network),
        process_(process),
        processes_(processes),
        on_closed_(std::move(on_closed)) {}

  // From now on these, and no others.
  void Watch(std::set<Rank> ranks);

 private:
  void Probe(Rank rank);

  SimulatedNetwork* const network_;
  Process* const process_;
  const std::vector<Process*>* const processes_;
  const std::function<void(Rank)> on_closed_;
  std::set<Rank> watched_;
  std::set<Rank> asked_;  // a probe is under way
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PORT_WATCH_H_
