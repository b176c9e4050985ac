// A whole run on one thread in virtual time: a plan's nodes, network and faults.
//
// The same plan gives the same run, event for event.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_RUN_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/tensor/tensor_thread.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/run_plan.h"
#include "tests/node/whole_node/simulated_network.h"
#include "tests/node/whole_node/simulated_node.h"
#include "tests/node/whole_node/simulated_store.h"
#include "tests/node/whole_node/virtual_time.h"

namespace grapevine::testing {

class SimulatedRun {
 public:
  // `log` receives a line for everything that a reader of the run wants to know.
  explicit SimulatedRun(RunPlan plan, std::function<void(const std::string&)> log = {});
  // Destroys in an order in which nothing uses what is gone.
  ~SimulatedRun();

  // Runs until every process that was not killed has ended. An error names those that had not by
  // `deadline`, and their states.
  absl::Status Run(std::chrono::nanoseconds deadline);

  // The same up to a time since the start, for tests that break things in between.
  void RunUntil(std::chrono::nanoseconds time);
  // Until `reached` holds after an event; false if there are no events left.
  bool RunUntil(const std::function<bool()>& reached);
  void Happen(const Fault& fault);
  // Another process takes the place of one that has ended.
  void Return(Rank rank);

  // The latest of the rank.
  const SimulatedNode& node(Rank rank) const { return *nodes_[rank]; }
  // What any process has evaluated, also those that others have taken the places of.
  std::vector<const AveragedModel*> Averages() const;
  const SimulatedStore::Contents& store() const { return store_.contents(); }
  // Whether a process was killed or ended with an error, also one whose place another has taken.
  bool died() const;
  // Whether it was started and not killed.
  bool survives(Rank rank) const;
  // From the start to its end, its last work included.
  std::chrono::nanoseconds EndedAfter(Rank rank) const {
    return nodes_[rank]->ended_at() - SteadyTime();
  }
  std::chrono::nanoseconds elapsed() const { return time_.now() - SteadyTime(); }

 private:
  bool AllEnded() const;

  const TensorThread tensor_thread_;
  const RunPlan plan_;
  VirtualTime time_;
  SimulatedNetwork network_;
  SimulatedStore store_;
  std::vector<std::unique_ptr<Process>> processes_;
  SimulatedNode::World world_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  // Of ranks that have come back.
  std::vector<std::unique_ptr<Process>> old_processes_;
  std::vector<std::unique_ptr<SimulatedNode>> old_nodes_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_RUN_H_
