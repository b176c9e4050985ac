// Which credits of a node may go, where a round's messages must not disturb those of
// earlier rounds.
//
// A message that was posted Credit::kInTurn comes from somebody else than those of
// earlier rounds that are still on their way, and would share their receiver's
// bandwidth. Its credit waits until they lack no more than what arrives while the
// credit travels: a sender in step with this node then has it when it needs it, and
// the first byte of one that is ahead finds the way free (docs/transport.md).
//
// Both drivers keep one for each node. They differ in how they know what is left
// and how much arrives in a round trip: one measures it, the other one knows.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_CREDIT_ORDER_H_
#define GRAPEVINE_ALGORITHM_CREDIT_ORDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithm/event.h"

namespace grapevine {

class CreditOrder {
 public:
  struct Message {
    Rank from;
    Tag tag;
  };
  // The bytes that arrive while a credit travels to a peer; 0 where that is unknown.
  using Allowance = std::function<double(Rank)>;

  // What is so small disturbs nobody: three packets.
  static constexpr double kNegligible = 4096;

  // Expects a message for `round`, whose credit is held.
  void Post(Rank from, Tag tag, Round round, int64_t bytes);
  // So many bytes of it are still to come. Of a message that was not posted in turn
  // this says nothing.
  void Lacks(Rank from, Tag tag, int64_t bytes);
  // It has arrived, or will not come.
  void Close(Rank from, Tag tag);
  void CloseAll(Rank from);

  // The credits that may go now, earlier rounds first; each is told once.
  std::vector<Message> Take(const Allowance& allowance);
  // By how many bytes the next credit comes too early; 0 when none is held.
  double Excess(const Allowance& allowance) const;

 private:
  struct Place {
    Message message;
    Round round;
    int64_t left;
    bool granted;
  };
  std::vector<Place>::iterator Find(Rank from, Tag tag);

  std::vector<Place> places_;  // by round
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_CREDIT_ORDER_H_
