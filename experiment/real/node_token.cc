#include "experiment/real/node_token.h"

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {
namespace {

// What makes strangers possible; empty on loopback alone.
std::string BeyondLoopback(const NodePlacement& placement) {
  if (!IsLoopback(placement.bind.host)) return absl::StrCat("listens on ", placement.bind.host);
  if (!IsLoopback(placement.coordinator.host)) {
    return absl::StrCat("connects to ", placement.coordinator.host);
  }
  return "";
}

}  // namespace

absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodePlacement& placement) {
  absl::StatusOr<TokenSource> token = FindToken(config, std::getenv(kTokenVariable));
  if (!token.ok() || !token->secret.empty() || config.insecure()) return token;
  const std::string beyond = BeyondLoopback(placement);
  if (beyond.empty()) return token;
  return UsageError(absl::StrCat(
      "this node ", beyond,
      ", which is not this machine alone, and has no token: give every "
      "rank the same --token-file=FILE or ",
      kTokenVariable, config.has_tls_ca() ? "" : ", and --tls-ca, --tls-cert and --tls-key",
      ", or --insecure on a network that you trust"));
}

}  // namespace grapevine
