// The exchange of an asynchronous worker with its servers: the messages between them, and the gate
// that says which worker may begin a step where staleness is bounded.
//
// A worker has one exchange under way, with all servers alike. It asks each server, as a rule with
// an update of the server's range, and each server answers with that range. The worker posts for
// the answers before it asks. What it asks with is offered, since servers cannot foresee it.
//
// The note of an update says how many gradients are in it, and at which version of the server's
// weights it was made. The note of an answer says how many gradients have gone into the weights,
// and the version of the weights, which is the number of their updates.
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

// What a worker asks of its servers.
enum class Ask : uint32_t {
  kPush = 1,
  // A push of a worker that has come to its limit (RoundLimit): once answered, it begins no step
  // until it has asked again. Used only where servers bound the staleness.
  kLastPush,
  // A request without an update, after a kLastPush: the worker goes on.
  kPull,
};

// Says that a worker asks no more, since members change. The message has no elements and is not
// answered.
inline constexpr Tag kFarewell{.channel = 0, .index = 0, .step = 4};

// Returns the tag of what a worker asks in an exchange; each worker counts its exchanges from 0.
inline Tag AskTag(int64_t exchange, Ask ask) {
  return {.channel = 0, .index = exchange, .step = static_cast<uint32_t>(ask)};
}
// Whether `tag` is that of an ask.
inline bool Asks(const Tag& tag) {
  return tag.step >= static_cast<uint32_t>(Ask::kPush) &&
         tag.step <= static_cast<uint32_t>(Ask::kPull) && tag == AskTag(tag.index, Ask{tag.step});
}
inline Tag AnswerTag(int64_t exchange) { return {.channel = 0, .index = exchange, .step = 0}; }

// Says which workers may begin a step where staleness is bounded (stale-synchronous parallel; Ho et
// al. 2013): no worker may be more than `bound` steps ahead of the slowest worker that is not at
// its limit.
//
// Each server keeps a gate of its own and goes by the steps that have reached it. All servers see
// the same steps, and which of them were a worker's last, though not at the same time; a worker
// waits for all servers. This does not deadlock: where no message is on its way, all gates agree,
// and the slowest worker passes each of them. A worker at its limit is not waited for, or it would
// hold up the others for good when the budget of gradients is used up. It asks before it goes on,
// so that no other worker is far ahead of it unnoticed.
class StalenessGate {
 public:
  // Without a bound, every worker may begin at any time.
  StalenessGate(Rank workers, std::optional<int64_t> bound);

  // Puts the gate in the state in which each worker has just come to its limit. Must be called
  // before the first ask.
  void WaitForAll();
  // Says that a worker asks no more, and is not waited for. What it has asked may still be done.
  void Leave(Rank worker);
  bool bounded() const { return bound_.has_value(); }
  // Whether a worker may ask `ask` now.
  bool Allows(Rank worker, Ask ask) const;
  // Records that a worker's step has been done, or that it asks to go on.
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
  std::map<int64_t, Rank> going_;  // workers that are not at their limit, by steps
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_EXCHANGE_H_
