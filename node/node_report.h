// The messages in which a node tells rank 0 about itself (control.proto).
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
  // The peer that the node is trying to reach, and the outcome so far; empty if there is none.
  std::string connecting;
  int64_t evaluated_batches = 0;
  // Whether the node has trained: only the evaluation of its own model and its files remain.
  bool trained = false;
};

// Returns the heartbeat that says what the node is doing.
control::Heartbeat HeartbeatOf(const NodeActivity& activity);

// Returns the report of where a node stands in its share of a budget of gradients.
control::Steps StepsOf(const StepsReport& steps);

// Returns the report of why the node cannot go on, with `culprit` as the rank at fault.
control::Failure FailureBy(Rank culprit, const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_NODE_REPORT_H_
