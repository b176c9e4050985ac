// Rank 0 that cannot begin (its --out exists, its data are missing) tells the nodes that
// wait for it why, who would otherwise try to reach it until their time-out.
#ifndef GRAPEVINE_NODE_FAILED_START_H_
#define GRAPEVINE_NODE_FAILED_START_H_

#include "absl/status/status.h"
#include "node/node_session.h"

namespace grapevine {

// Listens where the run's rank 0 would, for a few seconds or until all were told. Blocks;
// where it cannot listen, nobody is told.
void TellOfFailedStart(const NodeSessionOptions& options, const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_FAILED_START_H_
