// Rank 0 says in a store where it is, for as long as it lives; the others read it there. Where its
// role may move, so does whoever has it (moving_role.h). By the lease with which it says so it acts
// for the run (role_lease.h).
//
// Beside the key that goes with its lease, KEY-last keeps who took the role last: whoever lost
// sight of the store learns from it that another had the role meanwhile, even if that one is gone.
//
// Functions are pure, StoreDiscovery is thread-safe.
#ifndef GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/discovery/discovery.h"
#include "node/discovery/moving_role.h"
#include "node/discovery/role_lease.h"
#include "node/identity/authentication.h"
#include "node/identity/host_address.h"
#include "node/store/store.h"
#include "system/mutex.h"

namespace grapevine {

// What rank 0 says of itself in a store. Whoever can write there can forge it, but for its proof of
// the run's token.
struct CoordinatorAnnouncement {
  static constexpr size_t kMostAddresses = 16;

  std::string run_id;
  std::vector<HostAddress> addresses;  // at any of which rank 0 may be reached
  int64_t since = 0;                   // seconds of Unix time
  Rank rank = 0;                       // of the node that has the role
  uint64_t tenure = 0;                 // announcement.proto's
};

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token);

// InvalidArgument says what is wrong with it, phrased to follow "what is there ".
absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token);

// Where rank 0 may be reached that advertises this: there, or without a host under each of
// `own_names` (system/machine_names.h), loopback only where there is nothing else.
std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names);

// "10.0.0.1:41234, node1:41234 (since 2026-11-23 16:20:00 UTC)".
std::string AnnouncementText(const CoordinatorAnnouncement& announcement);

struct StoreDiscoveryOptions {
  std::string key;
  // A rank 0 that died is found for as long at most, and keeps the next one out.
  std::chrono::milliseconds time_to_live{10000};
  RunToken token;
  CoordinatorProbe probe;
  std::vector<std::string> own_names;  // of this machine
  bool role_moves = false;             // to another node, when its holder is lost
};

// What a run before has left is never used: it goes with its lease, and until then nobody answers
// at its addresses by its run's id.
class StoreDiscovery final : public Discovery, public MovingRole, public RoleLease {
 public:
  // As Discovery's, MovingRole's and RoleLease's.
  using Deadline = std::chrono::steady_clock::time_point;
  using Interrupted = std::function<absl::Status()>;

  StoreDiscovery(std::shared_ptr<Store> store, StoreDiscoveryOptions options);
  ~StoreDiscovery() override;

  const std::string& place() const override { return place_; }
  absl::Status Announce(const ListeningCoordinator& own, Deadline deadline,
                        const Interrupted& interrupted) override;
  void Withdraw() override;
  absl::StatusOr<FoundCoordinator> Find(Deadline deadline, const Interrupted& interrupted) override;
  MovingRole* moving_role() override { return options_.role_moves ? this : nullptr; }
  RoleLease* lease() override { return this; }

  absl::StatusOr<Settled> Settle(const Candidate& candidate, Deadline deadline,
                                 const Interrupted& interrupted) override;
  void EndRun(const std::string& run_id, const absl::Status& how) override;
  std::chrono::milliseconds LongestVacancy() const override;

  absl::Status Check() override;
  absl::Status Await(Deadline deadline) override;
  void OnSuperseded(std::function<void(const absl::Status& why)> told) override;

 private:
  absl::Status AlreadyThere(const StoredValue& holder) const;
  // Asks at the addresses that were announced.
  absl::StatusOr<FoundCoordinator> Ask(const StoredValue& announced, Deadline deadline) const;
  absl::StatusOr<FoundCoordinator> Look(StoreRevision* seen, Deadline deadline);
  // What a holder of the key writes, and what is done when it is lost.
  HeldKeyOptions Holding(const CoordinatorAnnouncement& announcement);
  absl::StatusOr<HeldKey::Taken> Take(const CoordinatorAnnouncement& announcement, bool waits,
                                      Deadline deadline, const Interrupted& interrupted);
  struct Seen {
    std::optional<Settled> settled;  // who has the role by now, or how the run has ended
    StoreRevision revision = 0;      // of what is there; 0: nobody has it
    LeaseId abandoned = 0;           // of one that is gone, whose lease has not lapsed
  };
  struct Loss {
    Deadline at;
    absl::Status why;
  };
  absl::StatusOr<Seen> LookForHolder(const Candidate& candidate, Deadline deadline);
  absl::StatusOr<std::optional<Over>> LookForEnd(const std::string& run_id, Deadline deadline);
  // On a thread of its own: takes the role again when it was lost.
  void KeepRole();
  void TakeAgain(const CoordinatorAnnouncement& announcement);
  // AlreadyExists: another has had the role meanwhile.
  absl::StatusOr<HeldKey::Taken> TakeOnceMore(const CoordinatorAnnouncement& own,
                                              const Interrupted& given_up);
  absl::Status CheckWasLast(const CoordinatorAnnouncement& own);
  void Supersede();
  // Why this process has not the role at this moment.
  absl::Status Lapsed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // By which no waiting brings it back.
  bool IsGivenUp() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string EndKey() const;
  std::string LastKey() const;

  const std::shared_ptr<Store> store_;
  const StoreDiscoveryOptions options_;
  const std::string place_;

  Mutex mutex_;
  Condition changed_;
  std::unique_ptr<HeldKey> held_ ABSL_GUARDED_BY(mutex_);                     // where the role is
  std::optional<CoordinatorAnnouncement> announced_ ABSL_GUARDED_BY(mutex_);  // likewise
  uint64_t known_ ABSL_GUARDED_BY(mutex_) = 0;  // the tenure of the last holder; 0: not known
  std::function<void(const absl::Status&)> on_superseded_ ABSL_GUARDED_BY(mutex_);
  absl::Status superseded_ ABSL_GUARDED_BY(mutex_);   // why; OK: it is not
  std::optional<Loss> loss_ ABSL_GUARDED_BY(mutex_);  // of the lease; none: it has not lapsed
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread keeper_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
