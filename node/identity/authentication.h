// The nodes of a run know each other by the token that all of them have (RunToken), and, where
// certificates name ranks, by the name in a node's certificate (RankNames).
//
// Immutable.
#ifndef GRAPEVINE_NODE_IDENTITY_AUTHENTICATION_H_
#define GRAPEVINE_NODE_IDENTITY_AUTHENTICATION_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"

namespace grapevine {

// The secret that the nodes of a run share: a caller without it is unauthenticated.
//
// The token never crosses the network. A node shows a proof, the HMAC-SHA-256 (RFC 2104) of the
// identity that it claims, so that an impostor to which a node introduces itself gains nothing that
// it could use elsewhere. A token is never printed: only its proofs leave this class.
class RunToken {
 public:
  // No token: a caller that makes the same claim and shows no proof is authenticated.
  RunToken() = default;
  explicit RunToken(std::string secret) : secret_(std::move(secret)) {}

  bool given() const { return !secret_.empty(); }

  // Returns 32 bytes that only a holder of the token can derive from `claim`; empty without a
  // token.
  std::string Proof(std::string_view claim) const;
  // Returns whether `proof` is that of `claim`; compares in constant time.
  bool Accepts(std::string_view proof, std::string_view claim) const;

 private:
  std::string secret_;
};

// The name by which a node's certificate says which rank the node is (--tls-identity=RUN): the DNS
// name rank-3.RUN in subjectAltName. It is a DNS name and no URI, because every TLS library
// compares DNS names in the handshake itself: a caller that reaches another rank than it means
// hangs up before it has sent anything. The name needs no DNS server, and takes the place of host
// names: nodes may move.
class RankNames {
 public:
  // Certificates name no ranks: a node that has a certificate may be any rank.
  RankNames() = default;
  explicit RankNames(std::string run) : run_(std::move(run)) {}

  bool given() const { return !run_.empty(); }
  // Returns the name of a rank, "rank-3.RUN". Only valid if given().
  std::string Of(Rank rank) const;

 private:
  std::string run_;
};

// Returns the path of a node's own certificate or key: `file`, which is equal on all nodes, with
// the node's rank in place of {rank}.
std::string FileOfRank(const std::string& file, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_AUTHENTICATION_H_
