// What can happen to an algorithm.
#ifndef GRAPEVINE_ALGORITHM_EVENT_H_
#define GRAPEVINE_ALGORITHM_EVENT_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "algorithm/message.h"
#include "algorithm/state_visitor.h"
#include "algorithm/view.h"
#include "base/ids.h"

namespace grapevine {

// The first event, once. The algorithm begins in `round`, as if it had done those before; without a
// state, with the host's initial replica and nothing else. With one it has its state show all that
// it has begun with, to be overwritten (Algorithm::VisitState): it goes on as the instance did of
// which that is the state.
//
// With a view, whose first round this is, it comes into a run that is under way, as one of its
// newcomers; only an algorithm whose members change can (membership/resilient_algorithm.h).
struct Start {
  Round round = 0;
  StateVisitor* state = nullptr;  // during the event
  // Where members may be lost: the latest round in which any of them begins. One that begins before
  // it is behind; only those can be whose instances give way at once (Algorithm::gives_way).
  std::optional<Round> latest = std::nullopt;
  const View* joins = nullptr;  // outlives the algorithm
};
// A posted message has arrived, complete, in its buffer.
struct Received {
  Rank from;
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};
// `from` holds a message for which nothing is posted here (Host::Offer). It waits until it is
// answered, at once or later: Post takes it, Decline ends it. Not raised for a message that a post
// has met on its way.
struct Offered {
  Rank from;
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};
// A post will not be filled: it was withdrawn, or its sender is lost. Its buffer is free again.
struct Lost {
  Rank from;
  Tag tag;
};
// The elements from `from` on of the gradient asked for in `round` are final. The
// last such event has from = 0, and most algorithms ask for no other.
struct GradientReady {
  Round round;
  int64_t from = 0;

  bool whole() const { return from == 0; }
};
// The bytes of a message have left this node: they are with the network, or with a host whose
// buffer had room for them, where they share its interface with what is sent now. They may still be
// lost, and the part may not be written yet. Comes before the Sent of every message that is
// delivered.
struct Left {
  SendId id;
};
// The end of a send. The receiver has the message, complete, in the buffer that it posted; or,
// undelivered, has declined what was offered, of which nothing has left, or is lost itself. The
// part may be written again. Never comes for a message that is lost between two nodes that are not.
struct Sent {
  SendId id;
  bool delivered = true;
};
// No round at or past `limit` may begin: the end of the run, which may move
// outwards while it lasts, never inwards past a round that a node may have begun. Where there are
// no rounds (HasRounds), a node's own bound on its steps, which moves outwards as it makes use of
// it; a server's is that of all workers together, and bounds nothing.
struct RoundLimit {
  Round limit;
};

// Members change. The node says how far it may go without being asked again (Host::Promise), and
// goes no further until the view that follows. One of an earlier ballot may still come.
struct Prepare {
  uint32_t ballot = 0;
  bool operator==(const Prepare&) const = default;
};
// Who is in the run from round view->from on, which is no less than what any member has promised.
// From this event on, posts for messages of those who are not end in Lost, but for what is on its
// way, and sends to them in an undelivered Sent, also those that are requested later. Its newcomers
// are there once the view has begun here (Host::BeginView).
struct ViewChanged {
  const View* view;  // outlives the algorithm
};

using Event = std::variant<Start, Received, Offered, Lost, GradientReady, Left, Sent, RoundLimit,
                           Prepare, ViewChanged>;

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_EVENT_H_
