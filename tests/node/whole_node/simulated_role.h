// Rank 0's role as a simulated node has it: the counterpart of HeldKey (node/store/store.h) and of
// StoreDiscovery as the holder's side of it, driven by the same machines (node/life/role).
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_ROLE_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_ROLE_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "node/life/role/lapsed_role.h"
#include "node/life/role/lease_term.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/simulated_store.h"

namespace grapevine::testing {

class SimulatedRole {
 public:
  enum class Taken { kYes, kNo, kUnknown };

  // `on_superseded`: another node has had it meanwhile.
  SimulatedRole(Process* process, SimulatedStore* store, std::function<void()> on_superseded)
      : process_(process), store_(store), on_superseded_(std::move(on_superseded)) {}

  // Takes it, if nobody has taken it since the claim was of this revision, and tells `then` whether
  // it has it.
  void Take(uint64_t tenure, int64_t claim, std::function<void(Taken)> then);
  // Takes the role for the node that begins the run, when nothing is amiss with the store yet.
  void TakeAtOnce(uint64_t tenure);
  // Whether it has the role for certain at this moment.
  bool IsCertain() const;
  // Tells the store that the run has ended so, and `then` whether it has taken that down.
  void EndRun(const absl::Status& how, std::function<void(bool told)> then);
  void Withdraw();

  // How often its lease has lapsed.
  int lapses() const { return lapses_; }
  // Whether it has lost it for good.
  bool superseded() const { return superseded_; }

 private:
  using Contents = SimulatedStore::Contents;
  using Lease = SimulatedStore::Lease;

  LeaseTerm::Time now() const { return process_->now().time_since_epoch(); }
  void SetClaim(uint64_t tenure, int64_t claim, std::function<void(Taken)> then);
  void Hold();
  void RenewLater();
  void Renew();
  // Once the lease has lapsed.
  void TakeAgain();
  void Look();
  void TakeOnceMore();
  void ClaimAgain();
  void OnTrouble();
  void Revoke(uint64_t tenure);

  Process* const process_;
  SimulatedStore* const store_;
  const std::function<void()> on_superseded_;
  uint64_t tenure_ = 0;  // 0: it has not the role, or no longer
  // The lease that it holds or is about to hold, and when it has asked for it.
  Lease lease_ = 0;
  LeaseTerm::Time asked_{};
  int64_t claim_ = 0;  // as it was looked at
  std::optional<LeaseTerm> term_;
  std::optional<LapsedRole> lapsed_;
  int lapses_ = 0;
  bool superseded_ = false;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_ROLE_H_
