#include "node/store/store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/units.h"
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
using std::chrono::steady_clock;

constexpr milliseconds kAnswer{2000};  // time for a store to answer one call
constexpr milliseconds kSlice{1000};   // longest part of a wait between two calls of `interrupted`
constexpr milliseconds kRetry{200};
constexpr milliseconds kFarewell{1000};
// The time that a store may let a dead holder's lease live beyond its time to live.
constexpr milliseconds kGrace{3000};
// Attempts to renew a lease in each time to live.
constexpr int kBeats = 3;

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
  const Asked asked;
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
                 StoreRevision fence, Asked asked)
    : store_(std::move(store)),
      options_(std::move(options)),
      lease_(lease),
      fence_(fence),
      held_until_(asked.by_all_clocks + options_.time_to_live),
      keeper_([this, asked] { Keep(asked.at); }) {}

HeldKey::~HeldKey() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  keeper_.join();
  (void)store_->Revoke(lease_, steady_clock::now() + kFarewell);
}

bool HeldKey::Pause(milliseconds time) {
  const StoreDeadline end = steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (!ending_ && steady_clock::now() < end) changed_.WaitUntil(mutex_, end);
  return !ending_;
}

// The lease counts as lost a time to live after the last request that the store answered, so never
// later than it is lost; or when the store says so. A store that is busy, or whose disk is full,
// may still answer the next request.
void HeldKey::Keep(StoreDeadline granted) {
  const milliseconds beat = options_.time_to_live / kBeats;
  StoreDeadline held_until = granted + options_.time_to_live;
  milliseconds pause = beat;
  while (Pause(pause)) {
    const Asked asked;
    const absl::Status status =
        store_->KeepAlive(lease_, std::min(held_until, Soon(asked.at + beat, kAnswer)));
    if (status.ok()) {
      held_until = asked.at + options_.time_to_live;
      held_until_ = asked.by_all_clocks + options_.time_to_live;
      pause = beat;
    } else if (absl::IsNotFound(status) || steady_clock::now() >= held_until) {
      held_until_ = BootClock::time_point::min();
      options_.on_lost(status);
      return;
    } else {
      pause = std::min(beat, kRetry);
    }
  }
}

}  // namespace grapevine
