// Joins operations that one pass over memory can compute: a ReLU with what comes
// before it, an addition with the batch normalization of one of its summands.
#ifndef GRAPEVINE_MODEL_NETWORK_FUSION_H_
#define GRAPEVINE_MODEL_NETWORK_FUSION_H_

#include "model/network/network_graph.h"

namespace grapevine {

// The same function with fewer operations; the replica stays as it is.
NetworkGraph Fuse(NetworkGraph graph);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_FUSION_H_
