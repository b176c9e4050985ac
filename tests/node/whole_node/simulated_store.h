// The store of a simulated run: which node has rank 0's role for as long as a lease lives, which
// took it last, and how the run has ended (node/discovery/store_discovery.h).
//
// Requests and answers take some time. One that is under way while its caller cannot reach the
// store is lost, so that a request may have been carried out although nobody has heard so.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/ids.h"
#include "random/keyed_random.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/virtual_time.h"

namespace grapevine::testing {

class SimulatedStore {
 public:
  using Lease = int64_t;
  struct Holder {
    Rank rank;
    uint64_t tenure;
    Lease lease;
  };

  struct Claim {
    uint64_t tenure = 0;
    int64_t revision = 0;
  };

  struct End {
    uint64_t tenure;
    absl::Status how;
  };

  // What the store keeps.
  class Contents {
   public:
    Contents(const VirtualTime* time, std::chrono::nanoseconds time_to_live)
        : time_(time), time_to_live_(time_to_live) {}

    // Who has the role; nobody once the lease has lapsed.
    std::optional<Holder> holder() const {
      return time_->now() < expires_ ? std::optional(holder_) : std::nullopt;
    }
    // None if somebody has it.
    std::optional<Lease> Take(Rank rank, uint64_t tenure) {
      if (holder()) return std::nullopt;
      holder_ = {rank, tenure, holder_.lease + 1};
      expires_ = time_->now() + time_to_live_;
      return holder_.lease;
    }
    // False if there is no such lease any more.
    bool Renew(Lease lease) {
      if (!holder() || holder_.lease != lease) return false;
      expires_ = time_->now() + time_to_live_;
      return true;
    }
    bool Revoke(uint64_t tenure) {
      if (holder_.tenure == tenure) LoseLease();
      return true;
    }
    void LoseLease() { expires_ = time_->now(); }

    // Says which node has taken the role last.
    const Claim& claim() const { return claim_; }
    // False if the claim is not that of this revision any more.
    bool SetClaim(uint64_t tenure, int64_t revision) {
      if (claim_.revision != revision) return false;
      claim_ = {tenure, revision + 1};
      return true;
    }
    // How the run has ended, as the node with this tenure says; void if it was not the last.
    const std::optional<End>& end() const { return end_; }
    bool EndedWell() const { return end_ && end_->how.ok() && end_->tenure == claim_.tenure; }
    bool EndRun(uint64_t tenure, const absl::Status& how) {
      end_ = End{tenure, how};
      return true;
    }

   private:
    const VirtualTime* const time_;
    const std::chrono::nanoseconds time_to_live_;
    Holder holder_{-1, 0, 0};
    SteadyTime expires_{};
    Claim claim_;
    std::optional<End> end_;
  };

  SimulatedStore(uint64_t seed, VirtualTime* time, std::chrono::nanoseconds time_to_live)
      : random_(seed, Purpose::kMessageEffect, kStream),
        time_(time),
        time_to_live_(time_to_live),
        contents_(time, time_to_live) {}

  // Has `request` carried out for `caller`, which hears what it returns; none if no answer comes.
  template <typename T>
  void Ask(Process* caller, std::function<T(Contents&)> request,
           std::function<void(const std::optional<T>&)> hear) {
    auto heard = std::make_shared<bool>(false);
    time_->After(Latency(), [=, this] {
      if (!Reaches(caller->rank())) return;
      caller->After(Latency(), [=, this, answer = request(contents_)] {
        if (Reaches(caller->rank()) && !std::exchange(*heard, true)) hear(answer);
      });
    });
    caller->After(kPatience, [=] {
      if (!std::exchange(*heard, true)) hear(std::nullopt);
    });
  }

  // Nothing passes between the store and this node before `until`.
  void CutOff(Rank rank, SteadyTime until) { cut_off_[rank] = until; }
  // Its leases end at once, as when it is restored from an older copy.
  void LoseLeases() {
    contents_.LoseLease();
    lost_leases_ = time_->now();
  }
  // Whether each lease that a node may count on lives as long as it was granted for.
  bool KeepsItsWord() const {
    return !lost_leases_ || time_->now() >= *lost_leases_ + time_to_live_;
  }

  std::chrono::nanoseconds time_to_live() const { return time_to_live_; }
  // As it is at this moment, which no node knows.
  Contents& contents() { return contents_; }
  const Contents& contents() const { return contents_; }

 private:
  static constexpr int kStream = 17;  // of random numbers, unlike those of the network
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr int64_t kMaxLatency = 20000000;

  bool Reaches(Rank rank) const {
    const auto cut_off = cut_off_.find(rank);
    return cut_off == cut_off_.end() || time_->now() >= cut_off->second;
  }
  std::chrono::nanoseconds Latency() {
    return std::chrono::nanoseconds(random_.Below(kMaxLatency));
  }

  KeyedRandom random_;
  VirtualTime* const time_;
  const std::chrono::nanoseconds time_to_live_;
  Contents contents_;
  std::map<Rank, SteadyTime> cut_off_;
  std::optional<SteadyTime> lost_leases_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_STORE_H_
