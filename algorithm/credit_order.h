// Which credits of a node may leave, where a round's messages must not disturb those of earlier
// rounds.
//
// A message that was posted Credit::kInTurn comes from another sender than those of earlier
// rounds that are still in flight, and would share their receiver's bandwidth. Its credit waits
// until no more of them is missing than arrives while the credit travels: a sender in step with
// this node then has it in time, and the first byte of a sender that is ahead finds the link
// free (docs/transport.md).
//
// Both drivers keep one for each node. They differ in how they know what is missing and how
// much arrives meanwhile: the runtime measures it, the simulator knows.
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

  // Messages this small (three packets) disturb nobody.
  static constexpr double kNegligible = 4096;

  // Expects a message for `round`, whose credit is held.
  void Post(Rank from, Tag tag, Round round, int64_t bytes);
  // This many of its bytes are still missing. Ignored for a message that was not posted in
  // turn.
  void Lacks(Rank from, Tag tag, int64_t bytes);
  // It has arrived, or never will.
  void Close(Rank from, Tag tag);
  void CloseAll(Rank from);

  // The credits that may leave now, earlier rounds first; each is returned once.
  std::vector<Message> Take(const Allowance& allowance);
  // By how many bytes it is too early for the next credit; 0 when none is held.
  double Excess(const Allowance& allowance) const;

 private:
  struct OpenPost {
    Message message;
    Round round;
    int64_t left;
    bool granted;
  };
  std::vector<OpenPost>::iterator Find(Rank from, Tag tag);

  std::vector<OpenPost> posts_;  // by round
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_CREDIT_ORDER_H_
