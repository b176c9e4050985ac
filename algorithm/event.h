// The events that an algorithm handles.
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

// The first event; comes once. The algorithm begins in `round`, as if it had done all rounds
// before. Without `state`, it begins with the host's initial replica and nothing else. With
// `state`, it shows that visitor everything that it has begun with, to be overwritten
// (Algorithm::VisitState), and then goes on as the instance whose state it was.
//
// With `joins`, a view that begins in `round`, the node comes into a run that is under way, as one
// of the view's newcomers. Only an algorithm whose members can change handles that
// (membership/resilient_algorithm.h).
struct Start {
  Round round = 0;
  StateVisitor* state = nullptr;  // valid during the event
  // The latest round in which any member begins; set where members may be lost. A member that
  // begins before it is behind, which only happens to instances that give way at once
  // (Algorithm::gives_way).
  std::optional<Round> latest = std::nullopt;
  const View* joins = nullptr;  // outlives the algorithm
};
// Reports that a posted message has arrived in its buffer, complete.
struct Received {
  Rank from;
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};
// Reports that `from` holds a message for which nothing is posted here (Host::Offer). The message
// waits for an answer, at once or later: Post takes it, Decline ends it. Not raised for a message
// that meets a post on its way.
struct Offered {
  Rank from;
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};
// Reports that a post will not be filled: it was withdrawn, or its sender is lost. The buffer of
// the post is free again.
struct Lost {
  Rank from;
  Tag tag;
};
// Reports that the elements from `from` on of the gradient asked for in `round` are final. The last
// such event has from = 0, and most algorithms ask for no other.
struct GradientReady {
  Round round;
  int64_t from = 0;

  bool whole() const { return from == 0; }
};
// Reports that the bytes of a message have left this node. They are with the network, or in a
// buffer of this machine that had room for them, where they share its interface with what is sent
// next. They may still be lost, and the part that was sent must not be written yet. Comes before
// the Sent of every message that is delivered.
struct Left {
  SendId id;
};
// Reports the end of a send, after which the part that was sent may be written again. If delivered,
// the receiver has the complete message in the buffer that it posted. If not, the receiver has
// declined the offer, of which no byte has left, or the receiver is lost. Never comes for a message
// that is lost between two nodes that are not.
struct Sent {
  SendId id;
  bool delivered = true;
};
// Sets the end of the run: no round at or past `limit` may begin. The limit may move outwards while
// the run lasts, but never inwards past a round that a node may have begun. Where nodes do not go
// through rounds together (HasRounds), a worker's limit is its own bound on its steps, which moves
// outwards as the worker makes use of it; a server's limit is that of all workers together, and
// bounds nothing.
struct RoundLimit {
  Round limit;
};

// Announces that members change. The node answers how far it may go without being asked again
// (Host::Promise), and goes no further until the view that follows. A view of an earlier ballot may
// still come.
struct Prepare {
  uint32_t ballot = 0;
  bool operator==(const Prepare&) const = default;
};
// Announces the members of the run from round view->from on, which is no less than what any member
// has promised. From this event on, posts for messages of nodes outside the view end in Lost,
// except for what is already on its way, and sends to them end in an undelivered Sent; this
// includes posts and sends that are requested later. The view's newcomers are present once the view
// has begun here (Host::BeginView).
struct ViewChanged {
  const View* view;  // outlives the algorithm
};

using Event = std::variant<Start, Received, Offered, Lost, GradientReady, Left, Sent, RoundLimit,
                           Prepare, ViewChanged>;

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_EVENT_H_
