// What one node has done in all, in a run whose nodes share a budget of gradients
// (algorithm/gradient_budget.h) and so differ in it: how many gradients it computed, how long none
// was being computed. Real and simulated nodes keep it; how stale the gradients were that the node
// applied, their drivers know.
//
// Thread-compatible.
#ifndef GRAPEVINE_EXPERIMENT_CORE_NODE_LEDGER_H_
#define GRAPEVINE_EXPERIMENT_CORE_NODE_LEDGER_H_

#include <chrono>
#include <cstdint>

#include "algorithm/staleness.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"

namespace grapevine {

class NodeLedger {
 public:
  // What the node did until `time` after the start of the run, since the last call. `work` then
  // has all of that time, also what lies between boundaries and cuts.
  void Add(std::chrono::nanoseconds time, NodeWork* work);
  // Adds the totals to the node's line about that work.
  void Describe(const NodeWork& work, const Staleness& staleness, NodeMetrics* line) const;

  NodeTotals totals(const Staleness& staleness) const;

 private:
  int64_t gradients_ = 0;
  std::chrono::nanoseconds gradient_{};
  std::chrono::nanoseconds time_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_NODE_LEDGER_H_
