// The name by which a node's certificate says which rank it is (--tls-identity=RUN): the DNS name
// rank-3.RUN in subjectAltName. A DNS name and no URI, because every TLS library compares it in the
// handshake itself: a caller that reaches another rank than it means hangs up before it has said a
// word. It needs no DNS server, and takes the place of host names: nodes may move.
//
// Immutable.
#ifndef GRAPEVINE_NODE_IDENTITY_RANK_NAMES_H_
#define GRAPEVINE_NODE_IDENTITY_RANK_NAMES_H_

#include <string>
#include <utility>

#include "base/ids.h"

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_RANK_NAMES_H_
