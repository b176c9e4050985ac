// The secret that the nodes of a run share: a caller without it is unauthenticated.
//
// It never crosses the network. A speaker shows a proof, the HMAC-SHA-256 (RFC 2104) of the
// identity that it claims, so that an impostor to whom a node introduces itself gains nothing that
// it could use elsewhere. A token is never printed: only its proofs leave this class.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_NODE_IDENTITY_RUN_TOKEN_H_
#define GRAPEVINE_NODE_IDENTITY_RUN_TOKEN_H_

#include <string>
#include <string_view>
#include <utility>

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_RUN_TOKEN_H_
