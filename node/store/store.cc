#include "node/store/store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/units.h"
#include "system/boot_clock.h"
#include "system/deadline.h"

namespace grapevine {

absl::Status CheckStoreKey(std::string_view key) {
  if (!key.empty() && key.size() <= Store::kMaxKey) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a key of ", key.size(), " bytes; it may have 1 to ", Store::kMaxKey));
}

absl::Status CheckStoreValue(std::string_view value) {
  if (value.size() <= Store::kMaxValue) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a value of ", value.size(), " bytes; it may have ", Store::kMaxValue));
}

absl::Status CheckTimeToLive(std::chrono::milliseconds time_to_live) {
  if (time_to_live >= Store::kMinTimeToLive && time_to_live <= Store::kMaxTimeToLive) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a lease of ", FormatDuration(time_to_live), "; it may have ",
      FormatDuration(Store::kMinTimeToLive), " to ", FormatDuration(Store::kMaxTimeToLive)));
}

absl::Status StoreAway(const std::string& name, std::chrono::nanoseconds asked,
                       std::string_view why, std::string_view remedy) {
  constexpr size_t kMostWhy = 300;
  return absl::UnavailableError(absl::StrCat(name, " did not answer within ", HumanSeconds(asked),
                                             ": ", Printable(why, kMostWhy), "; ",
                                             std::string(remedy)));
}

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswer{2000};  // time for a store to answer one call
constexpr milliseconds kSlice{1000};   // longest part of a wait between two calls of `interrupted`
constexpr milliseconds kRetry{200};
constexpr milliseconds kFarewell{1000};
// The time that a store may let a dead holder's lease live beyond its time to live.
constexpr milliseconds kGrace{3000};

LeaseTerm::Time Now() { return BootClock::now().time_since_epoch(); }

}  // namespace

absl::StatusOr<HeldKey::Taken> HeldKey::Take(std::shared_ptr<Store> store, HeldKeyOptions options,
                                             StoreDeadline deadline,
                                             const Interrupted& interrupted) {
  RETURN_IF_ERROR(CheckTimeToLive(options.time_to_live));
  const StoreDeadline patience =
      options.waits ? Soon(deadline, options.time_to_live + kGrace) : StoreDeadline::min();
  while (true) {
    RETURN_IF_ERROR(interrupted());
    absl::StatusOr<std::optional<StoredValue>> holder =
        store->Get(options.key, Soon(deadline, kAnswer));
    absl::Status status = holder.status();
    if (status.ok() && !*holder) {
      absl::StatusOr<std::unique_ptr<HeldKey>> held = TryTake(store, options, deadline);
      if (held.ok() && *held != nullptr) return Taken{*std::move(held), std::nullopt};
      status = held.status();
    } else if (status.ok()) {
      if (steady_clock::now() >= patience) return Taken{nullptr, **std::move(holder)};
      status =
          store->AwaitChange(options.key, (*holder)->modified, Soon(patience, kSlice)).status();
    }
    if (status.ok()) continue;
    if (!absl::IsUnavailable(status) || steady_clock::now() + kRetry >= deadline) return status;
    std::this_thread::sleep_for(kRetry);
  }
}

absl::StatusOr<std::unique_ptr<HeldKey>> HeldKey::TryTake(const std::shared_ptr<Store>& store,
                                                          const HeldKeyOptions& options,
                                                          StoreDeadline deadline) {
  const LeaseTerm::Time asked = Now();
  ASSIGN_OR_RETURN(const LeaseId lease,
                   store->Grant(options.time_to_live, Soon(deadline, kAnswer)));
  const absl::StatusOr<std::optional<StoreRevision>> fence =
      store->CompareAndSwap(options.key, 0, options.words, lease, Soon(deadline, kAnswer));
  if (fence.ok() && *fence) {
    return std::unique_ptr<HeldKey>(new HeldKey(store, options, lease, **fence, asked));
  }
  // A swap whose answer was lost may have happened. The key goes with the lease, which is revoked
  // here or ends by itself.
  (void)store->Revoke(lease, steady_clock::now() + kFarewell);
  RETURN_IF_ERROR(fence.status());
  return nullptr;
}

HeldKey::HeldKey(std::shared_ptr<Store> store, HeldKeyOptions options, LeaseId lease,
                 StoreRevision fence, LeaseTerm::Time asked)
    : store_(std::move(store)),
      options_(std::move(options)),
      lease_(lease),
      fence_(fence),
      term_(asked, options_.time_to_live),
      keeper_([this] { Keep(); }) {}

HeldKey::~HeldKey() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  keeper_.join();
  (void)store_->Revoke(lease_, steady_clock::now() + kFarewell);
}

bool HeldKey::IsHeld() {
  MutexLock lock(mutex_);
  return term_.IsHeld(Now());
}

bool HeldKey::Pause() {
  MutexLock lock(mutex_);
  const StoreDeadline end = steady_clock::now() + term_.pause();
  while (!ending_ && steady_clock::now() < end) changed_.WaitUntil(mutex_, end);
  return !ending_;
}

absl::Status HeldKey::Renew() {
  const LeaseTerm::Time asked = Now();
  const nanoseconds patience =
      std::min<nanoseconds>(LeaseTerm::Beat(options_.time_to_live), kAnswer);
  const absl::Status status = store_->KeepAlive(lease_, steady_clock::now() + patience);
  MutexLock lock(mutex_);
  if (status.ok()) {
    term_.OnRenewed(asked);
    return absl::OkStatus();
  }
  return term_.OnTrouble(absl::IsNotFound(status), Now()) ? absl::OkStatus() : status;
}

void HeldKey::Keep() {
  while (Pause()) {
    const absl::Status lost = Renew();
    if (!lost.ok()) return options_.on_lost(lost);
  }
}

}  // namespace grapevine
