// What an algorithm keeps from one round to the next, by name. One function of each part names it,
// both for saving and for restoring (Algorithm::VisitState). A visitor that saves reads what it is
// shown; a visitor that restores writes it, right after a start.
//
// At a boundary of round r this state is complete: what was sent in rounds before r has arrived,
// and what is sent later follows from the states of all nodes. A message that may arrive later than
// the boundary is shown as such, and belongs to the state.
//
// Thread-safety: one thread at a time.
#ifndef GRAPEVINE_ALGORITHM_STATE_VISITOR_H_
#define GRAPEVINE_ALGORITHM_STATE_VISITOR_H_

#include <cstdint>
#include <string_view>

#include "algorithm/message.h"
#include "base/ids.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// A message that was sent before the boundary: its buffer, and the weight of its note.
struct StateMessage {
  Rank from;
  Tag tag;
  bool arrived;
  Vec vector;
  double* weight;  // positive
};

// A sum over all members in `round`, which the node has obtained. Without a vector: no sum.
struct KeptSum {
  Vec vector;
  Round round = 0;
  Rank members = 0;  // the number of members that were summed
};

// Names are unique within an algorithm, and made of letters, digits, '_' and '.'.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // Shows all elements of a vector, which may be written as soon as the call is over.
  virtual void Vector(std::string_view name, Vec vector) = 0;
  virtual void Number(std::string_view name, double* number) = 0;
  // Shows a positive number.
  virtual void Weight(std::string_view name, double* weight) = 0;
  // Shows a number of rounds, from 0 to the boundary's.
  virtual void Rounds(std::string_view name, int64_t* rounds) = 0;
  // Shows a message. To restore, all messages have arrived. To save, a message that has not arrived
  // is taken once it is received.
  virtual void Message(std::string_view name, const StateMessage& message) = 0;
  // Shows the sum that a node keeps for other members, which may be behind when members are lost.
  // Not part of the saved state: no node is behind if all begin from states of one round.
  virtual void Kept(KeptSum*) {}
  // Shows whether the node has taken its step of the round under way, which was given up after the
  // step. Always false at a boundary.
  virtual void Stepped(bool*) {}
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_STATE_VISITOR_H_
