#include "tests/node/whole_node/simulated_role.h"

#include <glog/logging.h>

#include <chrono>
#include <utility>

namespace grapevine::testing {
namespace {

constexpr std::chrono::milliseconds kRetry{50};

}  // namespace

void SimulatedRole::Take(uint64_t tenure, std::function<void(Taken)> then) {
  store_->Ask<std::optional<Lease>>(
      process_,
      [rank = process_->rank(), tenure](Contents& store) { return store.Take(rank, tenure); },
      [this, tenure, then = std::move(then),
       asked = now()](const std::optional<std::optional<Lease>>& lease) {
        // It may have been taken all the same.
        if (!lease) Revoke(tenure);
        if (lease && *lease) return Claim(tenure, **lease, asked, then);
        then(lease ? Taken::kNo : Taken::kUnknown);
      });
}

void SimulatedRole::Claim(uint64_t tenure, Lease lease, LeaseTerm::Time asked,
                          std::function<void(Taken)> then) {
  store_->Ask<bool>(
      process_, [tenure](Contents& store) { return store.set_last(tenure); },
      [=, this, then = std::move(then)](const std::optional<bool>& told) {
        if (!told) {
          Revoke(tenure);
          return then(Taken::kUnknown);
        }
        tenure_ = tenure;
        Hold(lease, asked);
        then(Taken::kYes);
      });
}

void SimulatedRole::TakeAtOnce(uint64_t tenure) {
  tenure_ = tenure;
  store_->contents().set_last(tenure);
  Hold(*store_->contents().Take(process_->rank(), tenure), now());
}

bool SimulatedRole::IsCertain() const {
  if (tenure_ == 0 || lapsed_ || !term_->IsHeld(now())) return false;
  const std::optional<SimulatedStore::Holder> holder = store_->contents().holder();
  CHECK(holder && holder->tenure == tenure_)
      << "rank " << process_->rank() << " is certain of a role that it has lost";
  return true;
}

void SimulatedRole::Withdraw() {
  if (tenure_ != 0) Revoke(std::exchange(tenure_, 0));
}

void SimulatedRole::Hold(Lease lease, LeaseTerm::Time asked) {
  lease_ = lease;
  lapsed_.reset();
  term_.emplace(asked, store_->time_to_live());
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
    case LapsedRole::Step::kRegained:
      return Hold(lease_, asked_);
    case LapsedRole::Step::kYield:
      Withdraw();
      return on_superseded_();
  }
}

void SimulatedRole::Look() {
  store_->Ask<uint64_t>(
      process_, [](Contents& store) { return store.last(); },
      [this](const std::optional<uint64_t>& last) {
        if (!last) return OnTrouble();
        lapsed_->OnLooked(*last == tenure_);
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
