// The secret that the nodes of one run share: who does not have it is a stranger.
//
// It never crosses the network. Who speaks shows a proof, HMAC-SHA-256 (RFC 2104)
// of what it claims to be, so that an impostor to whom a node introduces itself
// gains nothing that it could use elsewhere. Nothing prints a token: it has no
// text form but its proofs.
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
  // No token: everybody who claims the same and shows none is believed.
  RunToken() = default;
  explicit RunToken(std::string secret) : secret_(std::move(secret)) {}

  bool given() const { return !secret_.empty(); }

  // 32 bytes that only who has the token can make of `claim`; none without a token.
  std::string Proof(std::string_view claim) const;
  // Whether `proof` is that of `claim`, in a time that tells nothing of it.
  bool Accepts(std::string_view proof, std::string_view claim) const;

 private:
  std::string secret_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_RUN_TOKEN_H_
