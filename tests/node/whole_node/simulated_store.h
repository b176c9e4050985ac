// A store that all nodes of a simulated run can reach: who has rank 0's role, for as long as a
// lease lives (node/store/store.h, HeldKey).
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "base/ids.h"
#include "tests/node/whole_node/virtual_time.h"

namespace grapevine::testing {

class SimulatedStore {
 public:
  struct Holder {
    Rank rank;
    int64_t fence;  // larger than those of all before
  };

  SimulatedStore(VirtualTime* time, std::chrono::nanoseconds time_to_live)
      : time_(time), time_to_live_(time_to_live) {}

  // Who has the role; nobody once the lease has expired.
  std::optional<Holder> holder() const {
    return time_->now() < expires_ ? std::optional(holder_) : std::nullopt;
  }
  // None if somebody has it.
  std::optional<int64_t> Take(Rank rank) {
    if (holder()) return std::nullopt;
    holder_ = {rank, holder_.fence + 1};
    expires_ = time_->now() + time_to_live_;
    return holder_.fence;
  }
  // False if another has had it since; else it is its own, though its lease may have lapsed.
  bool Keep(int64_t fence) {
    if (holder_.fence != fence) return false;
    expires_ = time_->now() + time_to_live_;
    return true;
  }
  void Release(int64_t fence) {
    if (holder_.fence == fence) expires_ = time_->now();
  }

  // How the run has ended, for those who have not heard so.
  void EndRun(const absl::Status& how) { ended_ = how; }
  const std::optional<absl::Status>& ended() const { return ended_; }

  std::chrono::nanoseconds time_to_live() const { return time_to_live_; }

 private:
  VirtualTime* const time_;
  const std::chrono::nanoseconds time_to_live_;
  Holder holder_{-1, 0};
  SteadyTime expires_{};
  std::optional<absl::Status> ended_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_
