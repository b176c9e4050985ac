// What a node says of itself with every beat (control.proto).
//
// Pure function.
#ifndef GRAPEVINE_NODE_HEARTBEAT_H_
#define GRAPEVINE_NODE_HEARTBEAT_H_

#include <cstdint>
#include <string>

#include "node/control/control.pb.h"
#include "node/runner/runner.h"
#include "node/transport/transport.h"

namespace grapevine {

struct NodeActivity {
  Progress progress;
  TransportCounters counters;
  // The peer that it tries to reach, and what has come of it; empty when there is none.
  std::string connecting;
  int64_t evaluated_batches = 0;
  bool trained = false;  // what is left are its own model and its files
};

control::Heartbeat HeartbeatOf(const NodeActivity& activity);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_HEARTBEAT_H_
