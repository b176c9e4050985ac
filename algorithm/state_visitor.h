// What an algorithm keeps from one round to the next, by name: one function of each part names it,
// for saving as for restoring (Algorithm::VisitState). A visitor that saves reads what it is
// shown; one that restores writes it, right after a start.
//
// At a boundary of round r this is all there is: what was sent in rounds before r has arrived, and
// what is sent later follows from the states of all nodes. A message that may arrive later than
// that is shown as such, and belongs to the state.
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

// The sum over all members in `round`, which the node has had. No vector: none.
struct KeptSum {
  Vec vector;
  Round round = 0;
  Rank members = 0;  // that were summed
};

// Names are different within an algorithm, and made of letters, digits, '_' and '.'.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // All elements of it. May be written as soon as the call is over.
  virtual void Vector(std::string_view name, Vec vector) = 0;
  virtual void Number(std::string_view name, double* number) = 0;
  // A positive number.
  virtual void Weight(std::string_view name, double* weight) = 0;
  // A number of rounds, from 0 to the boundary's.
  virtual void Rounds(std::string_view name, int64_t* rounds) = 0;
  // To restore, all have arrived. One that has not is saved when it is received.
  virtual void Message(std::string_view name, const StateMessage& message) = 0;
  // What a node keeps for others that may be behind when members are lost. No part of the state:
  // of those who begin from states of one round, nobody is.
  virtual void Kept(KeptSum*) {}
  // Whether the node has taken its step of the round under way, which was given up after it. Nobody
  // has at a boundary.
  virtual void Stepped(bool*) {}
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_STATE_VISITOR_H_
