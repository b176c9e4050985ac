#include "node/server/certified_rank.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <memory>
#include <string>

namespace grapevine {

void RequireRank(const RankNames& names, Rank rank, grpc::ChannelArguments* arguments) {
  if (names.given()) arguments->SetSslTargetNameOverride(names.Of(rank));
}

bool IsCertified(const RankNames& names, const grpc::ServerContextBase& caller, Rank rank) {
  if (!names.given()) return true;
  const std::shared_ptr<const grpc::AuthContext> auth = caller.auth_context();
  // Where certificates name ranks, the server takes no connection without one (GrpcCredentials).
  const bool within_the_process = !auth->IsPeerAuthenticated();
  if (within_the_process) return true;
  const std::string name = names.Of(rank);
  return std::ranges::any_of(auth->FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME),
                             [&](const grpc::string_ref& san) { return san == name; });
}

}  // namespace grapevine
