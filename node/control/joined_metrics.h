// Joins reports of one node: losses and samples are sums over the rounds since the last
// report, so they go on into the next one where a report is not used by itself.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_CONTROL_JOINED_METRICS_H_
#define GRAPEVINE_NODE_CONTROL_JOINED_METRICS_H_

#include "node/control/control.pb.h"

namespace grapevine {

// Adds the losses and samples of an earlier report of the same node.
void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_JOINED_METRICS_H_
