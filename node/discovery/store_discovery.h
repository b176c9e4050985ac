// StoreDiscovery finds rank 0 through a store: rank 0 announces its address there for as long as it
// lives, and the other nodes read it. If rank 0's role may move, the node that has the role
// announces itself (moving_role.h). The lease of the announcement is the lease by which that node
// acts for the run (role_lease.h).
//
// The announcement's key goes with its lease. Another key, KEY-last, is the claim of the node that
// took the role last. A holder that lost sight of the store learns from it that another node had
// the role meanwhile, even if that node is gone. Whoever takes the role replaces the claim, on
// condition that it is the one that was seen before: a node that has stood still between its look
// at the store and its taking of the role does not get it if another has had it in between.
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
#include "node/life/role/lapsed_role.h"
#include "node/life/role/role_search.h"
#include "node/store/store.h"
#include "system/mutex.h"

namespace grapevine {

// The announcement of rank 0 in a store. Any process that can write to the store can forge it,
// except for its proof of the run's token.
struct CoordinatorAnnouncement {
  static constexpr size_t kMostAddresses = 16;

  std::string run_id;
  std::vector<HostAddress> addresses;  // rank 0 may be reached at any of these
  int64_t since = 0;                   // seconds of Unix time
  Rank rank = 0;                       // of the node that has the role
  uint64_t tenure = 0;                 // see announcement.proto
};

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token);

// Decodes an announcement and checks its proof. InvalidArgument says what is wrong with it, phrased
// to follow "what is there ".
absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token);

// Returns the addresses at which a rank 0 that advertises `advertised` may be reached: `advertised`
// itself or, if it has no host, its port under each of `own_names` (system/machine_names.h).
// Includes loopback only if no other address exists.
std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names);

// Returns "10.0.0.1:41234, node1:41234 (since 2026-11-23 16:20:00 UTC)".
std::string AnnouncementText(const CoordinatorAnnouncement& announcement);

struct StoreDiscoveryOptions {
  std::string key;
  // The longest time for which a rank 0 that died stays announced and keeps the next one out.
  std::chrono::milliseconds time_to_live{10000};
  RunToken token;
  CoordinatorProbe probe;
  std::vector<std::string> own_names;  // of this machine
  bool role_moves = false;  // whether the role moves to another node when its holder is lost
};

// StoreDiscovery never uses an announcement that an earlier run has left: the announcement goes
// with its lease, and until then no node answers at its addresses by the id of its run.
class StoreDiscovery final : public Discovery, public MovingRole, public RoleLease {
 public:
  // Deadline and Interrupted are the types that Discovery and MovingRole define.
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
  absl::Status EndRun(const std::string& run_id, const absl::Status& how) override;
  std::chrono::milliseconds LongestVacancy() const override;

  absl::Status Check() override;
  absl::Status Await(std::chrono::nanoseconds patience) override;
  void OnSuperseded(std::function<void(const absl::Status& why)> told) override;

 private:
  absl::Status AlreadyThere(const StoredValue& holder) const;
  // Asks for rank 0 at the addresses that were announced.
  absl::StatusOr<FoundCoordinator> Ask(const StoredValue& announced, Deadline deadline) const;
  absl::StatusOr<FoundCoordinator> Look(StoreRevision* seen, Deadline deadline);
  // Returns the options with which this process holds the key: the words that it writes, and the
  // function that is called when it loses the key.
  HeldKeyOptions Holding(const CoordinatorAnnouncement& announcement);
  // Takes the key, and then the claim if its revision is still `claim`; as it is once the key is
  // taken, if there is none. Returns Aborted if another node was faster.
  absl::StatusOr<HeldKey::Taken> Take(const CoordinatorAnnouncement& announcement, bool waits,
                                      std::optional<StoreRevision> claim, Deadline deadline,
                                      const Interrupted& interrupted);
  absl::StatusOr<std::optional<StoredValue>> LookAtClaim(Deadline deadline);
  // Replaces the claim of revision `claim`. Returns Aborted if that is not the latest.
  absl::Status ClaimRole(const CoordinatorAnnouncement& own, StoreRevision claim,
                         Deadline deadline);
  // What the store says of the role.
  struct Seen {
    std::optional<Over> over;                       // how the run has ended
    std::optional<CoordinatorAnnouncement> holder;  // the node of this run that has the role
    StoreRevision revision = 0;                     // of the value of the key; 0 if there is none
    LeaseId lease = 0;                              // of that value
    StoreRevision claim = 0;                        // as it was before all that
  };
  struct Loss {
    Deadline at;
    absl::Status why;
  };
  absl::StatusOr<Seen> LookForHolder(const Candidate& candidate, Deadline deadline);
  RoleSearch::Step NextStep(const absl::StatusOr<Seen>& seen, RoleSearch* search);
  uint64_t KnownTenure();
  // Waits until the store may say something else.
  void AwaitNews(const absl::StatusOr<Seen>& seen, Deadline deadline);
  // Looks for the end that the node of this claim has told.
  absl::StatusOr<std::optional<Over>> LookForEnd(const std::string& run_id,
                                                 const std::optional<StoredValue>& claim,
                                                 Deadline deadline);
  // Takes the role again whenever it was lost; runs on a thread of its own.
  void KeepRole();
  void TakeAgain(const CoordinatorAnnouncement& announcement);
  void Regain(std::unique_ptr<HeldKey> held);
  void Supersede();
  // Returns why this process does not have the role at this moment.
  absl::Status Lapsed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the role is lost for good, so that no waiting brings it back.
  bool IsGivenUp() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string EndKey() const;
  std::string LastKey() const;

  const std::shared_ptr<Store> store_;
  const StoreDiscoveryOptions options_;
  const std::string place_;

  Mutex mutex_;
  Condition changed_;
  std::unique_ptr<HeldKey> held_ ABSL_GUARDED_BY(mutex_);  // set at the node that has the role
  // Set at the node that has the role, until Withdraw.
  std::optional<CoordinatorAnnouncement> announced_ ABSL_GUARDED_BY(mutex_);
  uint64_t known_ ABSL_GUARDED_BY(mutex_) = 0;  // tenure of the last known holder; 0 if not known
  std::function<void(const absl::Status&)> on_superseded_ ABSL_GUARDED_BY(mutex_);
  absl::Status superseded_ ABSL_GUARDED_BY(mutex_);   // why another node has the role; else OK
  std::optional<Loss> loss_ ABSL_GUARDED_BY(mutex_);  // how the lease lapsed; none if it has not
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread keeper_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
