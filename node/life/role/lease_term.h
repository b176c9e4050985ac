// The time for which a lease in a store is certainly held.
//
// A lease lives for its time to live from the moment at which the store last renewed it. Its holder
// cannot know that moment, only that it was after the request: counted from the request, the lease
// is never held for longer than the store gives it.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_LIFE_ROLE_LEASE_TERM_H_
#define GRAPEVINE_NODE_LIFE_ROLE_LEASE_TERM_H_

#include <chrono>

namespace grapevine {

class LeaseTerm {
 public:
  // By a clock that continues while the machine is suspended, as the store's clock does.
  using Time = std::chrono::nanoseconds;

  // `asked` is when the store was asked for the lease.
  LeaseTerm(Time asked, std::chrono::nanoseconds time_to_live)
      : time_to_live_(time_to_live), until_(asked + time_to_live), pause_(Beat(time_to_live)) {}

  // The time between two requests to renew a lease; an answer that takes longer is not waited for.
  static std::chrono::nanoseconds Beat(std::chrono::nanoseconds time_to_live) {
    return time_to_live / 3;
  }

  bool IsHeld(Time now) const { return now < until_; }
  // How long to wait before the next request to renew the lease.
  std::chrono::nanoseconds pause() const { return pause_; }

  // The store has renewed the lease; `asked` is when it was asked to.
  void OnRenewed(Time asked);
  // The store has not renewed the lease. `ended`: because there is no such lease any more. Without
  // that, a store that is busy, or whose disk is full, may still answer the next request.
  //
  // Returns false if the lease is lost; it is then not to be renewed any more.
  bool OnTrouble(bool ended, Time now);

 private:
  const std::chrono::nanoseconds time_to_live_;
  Time until_;
  std::chrono::nanoseconds pause_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LIFE_ROLE_LEASE_TERM_H_
