// What a coordinator says over its sessions.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_DISPATCH_H_
#define GRAPEVINE_NODE_CONTROL_DISPATCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "node/control/control.pb.h"

namespace grapevine {

// One connection of one node, numbered by the coordinator's caller.
using SessionId = int64_t;

// Directives in the order in which they are to be sent, and sessions that are over.
struct Dispatch {
  std::vector<std::pair<SessionId, control::Directive>> directives;
  // Sessions to be closed once their directives have been sent.
  std::vector<SessionId> ended;
  // Sessions whose node has another one; they can be dropped at once.
  std::vector<SessionId> replaced;

  void Send(SessionId session, control::Directive directive) {
    directives.emplace_back(session, std::move(directive));
  }
  // Sends a last directive and closes the session.
  void End(SessionId session, control::Directive last) {
    Send(session, std::move(last));
    ended.push_back(session);
  }
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_DISPATCH_H_
