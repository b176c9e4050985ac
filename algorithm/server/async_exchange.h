// The exchange of an asynchronous worker with its servers: what they say to each other, and who may
// begin a step where staleness is bounded.
//
// A worker has one exchange under way, with all servers alike: it asks each of them, as a rule with
// an update of the server's range, and is answered with that range. It posts for the answers before
// it asks; what it asks with is offered, since servers cannot foresee it.
//
// The note of an update says how many gradients are in it, and at which version of the server's
// weights it was made; the note of an answer, how many gradients have gone into the weights, and
// their version: how many updates.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_EXCHANGE_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "algorithm/message.h"
#include "base/ids.h"

namespace grapevine {

// What a worker asks.
enum class Ask : uint32_t {
  kPush = 1,
  // The worker has come to its limit (RoundLimit): once answered, it begins no step until it has
  // asked again. Only where servers bound the staleness.
  kLastPush,
  // After that, without an update: it goes on.
  kPull,
};

// A worker asks no more, since members change: without elements, and not answered.
inline constexpr Tag kFarewell{.channel = 0, .index = 0, .step = 4};

// Of a worker's exchanges, which count from 0.
inline Tag AskTag(int64_t exchange, Ask ask) {
  return {.channel = 0, .index = exchange, .step = static_cast<uint32_t>(ask)};
}
// Whether the tag is that of an ask.
inline bool Asks(const Tag& tag) {
  return tag.step >= static_cast<uint32_t>(Ask::kPush) &&
         tag.step <= static_cast<uint32_t>(Ask::kPull) && tag == AskTag(tag.index, Ask{tag.step});
}
inline Tag AnswerTag(int64_t exchange) { return {.channel = 0, .index = exchange, .step = 0}; }

// Who may begin a step where staleness is bounded (stale-synchronous parallel; Ho et al. 2013): no
// worker more than so many steps ahead of the slowest that is not at its limit.
//
// Each server keeps one and goes by the steps that have reached it. They see the same steps, and
// which of them were a worker's last, though not at the same time; a worker waits for all of them.
// That does not deadlock: where no message is on its way all gates agree, and the slowest worker
// passes each of them. A worker at its limit is not waited for, or it would hold up the others for
// good when the budget of gradients is used up; it asks before it goes on, so that nobody is far
// ahead of it unnoticed.
class StalenessGate {
 public:
  // Without a bound everybody may begin at any time.
  StalenessGate(Rank workers, std::optional<int64_t> bound);

  // As if each had just come to its limit: before the first ask.
  void WaitForAll();
  // A worker asks no more, and is not waited for; what it has asked may still be done.
  void Leave(Rank worker);
  bool bounded() const { return bound_.has_value(); }
  // Whether a worker may ask that now.
  bool Allows(Rank worker, Ask ask) const;
  // A worker's step has been done, or it asks to go on.
  void On(Rank worker, Ask ask);
  // Whether a worker may have its answer: it begins no step, or is not too far ahead.
  bool Passes(Rank worker) const;

 private:
  struct Worker {
    int64_t steps = 0;
    bool at_limit = false;
    bool left = false;
  };

  void StopGoing(Rank worker);

  std::optional<int64_t> bound_;
  std::vector<Worker> workers_;
  std::map<int64_t, Rank> going_;  // how many that are not at their limit have done so many steps
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_EXCHANGE_H_
