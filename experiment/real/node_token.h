// The token of one node, and whether it may do without.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_TOKEN_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_TOKEN_H_

#include "absl/status/statusor.h"
#include "experiment/real/node_placement.h"
#include "run/config/config.pb.h"
#include "run/config/token_source.h"

namespace grapevine {

// From --token-file or this process's environment. Beyond loopback a node needs
// one, unless --insecure says otherwise: kUsage names the address and the
// remedies. Errors as FindToken's.
absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodePlacement& placement);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_TOKEN_H_
