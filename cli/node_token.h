// The token of one node, and whether it may do without.
#ifndef GRAPEVINE_CLI_NODE_TOKEN_H_
#define GRAPEVINE_CLI_NODE_TOKEN_H_

#include "absl/status/statusor.h"
#include "cli/node_placement.h"
#include "run/config.pb.h"
#include "run/token_source.h"

namespace grapevine {

// From --token-file or this process's environment. Beyond loopback a node needs
// one, unless --insecure says otherwise: kUsage names the address and the
// remedies. Errors as FindToken's.
absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodePlacement& placement);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_NODE_TOKEN_H_
