// How the nodes of a run know each other: by the token that all of them have (RunToken), and where
// certificates name ranks, by the name that is in a node's certificate (RankNames).
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
// It never crosses the network. A speaker shows a proof, the HMAC-SHA-256 (RFC 2104) of the
// identity that it claims, so that an impostor to whom a node introduces itself gains nothing that
// it could use elsewhere. A token is never printed: only its proofs leave this class.
class RunToken {
 public:
  // No token: whoever makes the same claim and shows no proof is authenticated.
  RunToken() = default;
  explicit RunToken(std::string secret) : secret_(std::move(secret)) {}

  bool given() const { return !secret_.empty(); }

  // 32 bytes that only a holder of the token can derive from `claim`; empty without a token.
  std::string Proof(std::string_view claim) const;
  // Whether `proof` is that of `claim`; compares in constant time.
  bool Accepts(std::string_view proof, std::string_view claim) const;

 private:
  std::string secret_;
};

// The name by which a node's certificate says which rank it is (--tls-identity=RUN): the DNS name
// rank-3.RUN in subjectAltName. A DNS name and no URI, because every TLS library compares it in the
// handshake itself: a caller that reaches another rank than it means hangs up before it has said a
// word. It needs no DNS server, and takes the place of host names: nodes may move.
class RankNames {
 public:
  // Certificates name no ranks: a node that has one may be any.
  RankNames() = default;
  explicit RankNames(std::string run) : run_(std::move(run)) {}

  bool given() const { return !run_.empty(); }
  // "rank-3.RUN", where given.
  std::string Of(Rank rank) const;

 private:
  std::string run_;
};

// The path of a node's own certificate or key, where all nodes are told the same: {rank} in it is
// the node's.
std::string FileOfRank(const std::string& file, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_AUTHENTICATION_H_
