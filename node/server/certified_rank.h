// Whether a peer is the rank that its certificate names (node/identity/rank_names.h), as gRPC knows
// it. Without names everybody with a certificate of the authority may be any rank.
//
// Pure functions.
#ifndef GRAPEVINE_NODE_SERVER_CERTIFIED_RANK_H_
#define GRAPEVINE_NODE_SERVER_CERTIFIED_RANK_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/channel_arguments.h>

#include "base/ids.h"
#include "node/identity/rank_names.h"

namespace grapevine {

// The channel's handshake fails unless the certificate that answers names `rank`, whatever the
// address.
void RequireRank(const RankNames& names, Rank rank, grpc::ChannelArguments* arguments);

// Whether the caller's certificate names `rank`; true for calls within the process.
bool IsCertified(const RankNames& names, const grpc::ServerContextBase& caller, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_CERTIFIED_RANK_H_
