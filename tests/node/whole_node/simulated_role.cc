#include "tests/node/whole_node/simulated_role.h"

#include <glog/logging.h>

#include <chrono>
#include <utility>

namespace grapevine::testing {
namespace {

constexpr std::chrono::milliseconds kRetry{50};

}  // namespace

void SimulatedRole::Take(uint64_t tenure, int64_t claim, std::function<void(Taken)> then) {
  asked_ = now();
  store_->Ask<std::optional<Lease>>(
      process_,
      [rank = process_->rank(), tenure](Contents& store) { return store.Take(rank, tenure); },
      [=, this](const std::optional<std::optional<Lease>>& lease) {
        // It may have been taken all the same.
        if (!lease) Revoke(tenure);
        if (!lease || !*lease) return then(lease ? Taken::kNo : Taken::kUnknown);
        lease_ = **lease;
        SetClaim(tenure, claim, then);
      });
}

void SimulatedRole::SetClaim(uint64_t tenure, int64_t claim, std::function<void(Taken)> then) {
  store_->Ask<bool>(
      process_, [=](Contents& store) { return store.SetClaim(tenure, claim); },
      [=, this](const std::optional<bool>& claimed) {
        if (!claimed || !*claimed) {
          Revoke(tenure);
          return then(claimed ? Taken::kNo : Taken::kUnknown);
        }
        tenure_ = tenure;
        Hold();
        then(Taken::kYes);
      });
}

void SimulatedRole::TakeAtOnce(uint64_t tenure) {
  tenure_ = tenure;
  asked_ = now();
  lease_ = *store_->contents().Take(process_->rank(), tenure);
  CHECK(store_->contents().SetClaim(tenure, 0));
  Hold();
}

bool SimulatedRole::IsCertain() const {
  if (tenure_ == 0 || lapsed_ || !term_->IsHeld(now())) return false;
  const std::optional<SimulatedStore::Holder> holder = store_->contents().holder();
  CHECK((holder && holder->tenure == tenure_) || !store_->KeepsItsWord())
      << "rank " << process_->rank() << " is certain of a role that it has lost";
  return true;
}

void SimulatedRole::EndRun(const absl::Status& how, std::function<void(bool told)> then) {
  store_->Ask<bool>(
      process_, [how, tenure = tenure_](Contents& store) { return store.EndRun(tenure, how); },
      [then = std::move(then)](const std::optional<bool>& told) { then(told.has_value()); });
}

void SimulatedRole::Withdraw() {
  if (tenure_ != 0) Revoke(std::exchange(tenure_, 0));
}

void SimulatedRole::Hold() {
  lapsed_.reset();
  term_.emplace(asked_, store_->time_to_live());
  RenewLater();
}

void SimulatedRole::RenewLater() {
  process_->After(term_->pause(), [this] { Renew(); });
}

void SimulatedRole::Renew() {
  if (tenure_ == 0) return;
  store_->Ask<bool>(
      process_, [lease = lease_](Contents& store) { return store.Renew(lease); },
      [this, asked = now()](const std::optional<bool>& renewed) {
        if (tenure_ == 0) return;
        if (renewed && *renewed) {
          term_->OnRenewed(asked);
        } else if (!term_->OnTrouble(renewed.has_value(), now())) {
          lapsed_.emplace();
          ++lapses_;
          return TakeAgain();
        }
        RenewLater();
      });
}

void SimulatedRole::TakeAgain() {
  if (tenure_ == 0) return;
  switch (lapsed_->step()) {
    case LapsedRole::Step::kLook:
      return Look();
    case LapsedRole::Step::kTake:
      return TakeOnceMore();
    case LapsedRole::Step::kClaim:
      return ClaimAgain();
    case LapsedRole::Step::kRegained:
      return Hold();
    case LapsedRole::Step::kYield:
      superseded_ = true;
      Withdraw();
      return on_superseded_();
  }
}

void SimulatedRole::Look() {
  store_->Ask<SimulatedStore::Claim>(
      process_, [](Contents& store) { return store.claim(); },
      [this](const std::optional<SimulatedStore::Claim>& claim) {
        if (!claim) return OnTrouble();
        claim_ = claim->revision;
        lapsed_->OnLooked(claim->tenure == tenure_);
        TakeAgain();
      });
}

void SimulatedRole::TakeOnceMore() {
  asked_ = now();
  store_->Ask<std::optional<Lease>>(
      process_,
      [rank = process_->rank(), tenure = tenure_](Contents& store) {
        return store.Take(rank, tenure);
      },
      [this](const std::optional<std::optional<Lease>>& lease) {
        if (!lease) return OnTrouble();
        lapsed_->OnTaken(lease->has_value());
        if (*lease) lease_ = **lease;
        *lease ? TakeAgain() : process_->After(kRetry, [this] { TakeAgain(); });
      });
}

void SimulatedRole::ClaimAgain() {
  store_->Ask<bool>(
      process_,
      [tenure = tenure_, claim = claim_](Contents& store) { return store.SetClaim(tenure, claim); },
      [this](const std::optional<bool>& claimed) {
        if (!claimed || !*claimed) return OnTrouble();
        lapsed_->OnClaimed();
        TakeAgain();
      });
}

void SimulatedRole::OnTrouble() {
  Revoke(tenure_);
  lapsed_->OnTrouble();
  process_->After(kRetry, [this] { TakeAgain(); });
}

void SimulatedRole::Revoke(uint64_t tenure) {
  store_->Ask<bool>(
      process_, [tenure](Contents& store) { return store.Revoke(tenure); },
      [](const std::optional<bool>&) {});
}

}  // namespace grapevine::testing
