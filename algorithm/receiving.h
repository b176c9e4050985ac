// What every driver does with the messages that its nodes receive, whatever the algorithm: it
// decides when a posted message's credit may leave (CreditOrder), whether the numbers of a message
// may be averaged (CheckNumbers), and to which round its bytes belong (RoundBytes).
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_RECEIVING_H_
#define GRAPEVINE_ALGORITHM_RECEIVING_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/message.h"
#include "base/ids.h"

namespace grapevine {

// Decides which credits of a node may leave, where a round's messages must not disturb those of
// earlier rounds.
//
// A message that was posted with Credit::kInTurn comes from another sender than those of earlier
// rounds that are still in flight, and would share their receiver's bandwidth. Its credit waits
// until the earlier rounds lack no more bytes than arrive while the credit travels: a sender in
// step with this node then has it in time, and the first byte of a sender that is ahead finds the
// link free (docs/transport.md).
//
// Both drivers keep one CreditOrder for each node. They differ in how they know what is missing and
// how much arrives meanwhile: the runtime measures it, the simulator knows.
class CreditOrder {
 public:
  struct Message {
    Rank from;
    Tag tag;
  };
  // The bytes that arrive while a credit travels to `to`, at the rate at which the message of
  // `lacking` arrives; 0 if that is unknown. Near and far peers differ in it.
  using Allowance = std::function<double(Rank to, Rank lacking)>;

  // A number of missing bytes (three packets) too small to hold a credit back.
  static constexpr double kNegligible = 4096;

  // Expects a message for `round`, and holds its credit.
  void Post(Rank from, Tag tag, Round round, int64_t bytes);
  // Records that `bytes` of the message are still missing. Ignored for a message that was not
  // posted in turn.
  void Lacks(Rank from, Tag tag, int64_t bytes);
  // Forgets a message that has arrived, or never will.
  void Close(Rank from, Tag tag);
  void CloseAll(Rank from);

  // Returns the credits that may leave, earlier rounds first; each is returned once.
  std::vector<Message> Take(const Allowance& allowance);
  // Returns by how many bytes it is too early for the next credit; 0 if no credit is held.
  double Excess(const Allowance& allowance) const;

 private:
  struct OpenPost {
    Message message;
    Round round;
    int64_t left;
    bool granted;
  };
  std::vector<OpenPost>::iterator Find(Rank from, Tag tag);
  // Calls visit(post, bytes that earlier rounds lack, posts of earlier rounds) in the order of
  // rounds, until it returns false.
  template <typename Posts, typename Visit>
  static void ForEach(Posts& posts, Visit visit);
  // Returns how many bytes the `earlier` posts may lack when a credit leaves for `to`.
  static double Least(const Allowance& allowance, Rank to, std::span<const OpenPost> earlier);

  std::vector<OpenPost> posts_;  // by round
};

// The value of --max-norm if the flag is not given.
inline constexpr double kAnyNorm = std::numeric_limits<double>::infinity();

// Checks whether the numbers of a message may be averaged, before an algorithm hears of it. One NaN
// would otherwise reach every node within rounds, and the first loss that suffers from it would
// name the wrong node. A pure function.
//
// `squared_norm` is the sum of the squares of the message's elements in double precision, which is
// finite if and only if all of them are. If it is not finite, or if the Euclidean norm is above
// `max_norm`, returns kDiverged, which names the sender, the round for which the message was posted
// and its tag.
absl::Status CheckNumbers(Rank from, const Tag& tag, Round round, double squared_norm,
                          double max_norm);

// Counts the bytes of messages by the round that they belong to: messages of later rounds may be
// posted or arrive before the current round is over.
//
// Memory: one entry for each round that Before has not passed.
class RoundBytes {
 public:
  void Add(Round round, int64_t bytes) { open_[round] += bytes; }

  // Returns the bytes of all rounds before `round`. Must be called with ascending rounds.
  int64_t Before(Round round) {
    const auto end = open_.lower_bound(round);
    for (auto it = open_.begin(); it != end; it = open_.erase(it)) settled_ += it->second;
    return settled_;
  }

 private:
  int64_t settled_ = 0;
  std::map<Round, int64_t> open_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_RECEIVING_H_
