// What a node tells rank 0 about itself (control.proto).
//
// Pure functions.
#ifndef GRAPEVINE_NODE_NODE_REPORT_H_
#define GRAPEVINE_NODE_NODE_REPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "node/control/control.pb.h"
#include "node/runner/runner.h"
#include "node/transport/transport.h"

namespace grapevine {

struct NodeActivity {
  Progress progress;
  TransportCounters counters;
  // The peer that it is trying to reach, and the outcome so far; empty: none.
  std::string connecting;
  int64_t evaluated_batches = 0;
  bool trained = false;  // only its own model's evaluation and its files remain
};

// What the node is doing, for a heartbeat.
control::Heartbeat HeartbeatOf(const NodeActivity& activity);

// Where it stands in its share of a budget.
control::Steps StepsOf(const StepsReport& steps);

// Why the node cannot go on, and which rank is at fault.
control::Failure FailureBy(Rank culprit, const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_NODE_REPORT_H_
