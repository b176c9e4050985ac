#include "node/discovery/store_discovery.h"

#include <glog/logging.h>

#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "node/discovery/announcement.h"
#include "node/discovery/not_found.h"
#include "system/soon.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswer{2000};  // that a store, or rank 0, is given for one
constexpr milliseconds kSlice{1000};   // of a wait, between two looks whether to go on with it
constexpr milliseconds kRetry{250};

absl::Status AsRendezvous(const absl::Status& status) {
  return FailureOf(status) == Failure::kOther ? WithFailure(status, Failure::kRendezvous) : status;
}

}  // namespace

StoreDiscovery::StoreDiscovery(std::shared_ptr<Store> store, StoreDiscoveryOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      place_(absl::StrCat(store_->name(), ", key ", options_.key)) {}

absl::Status StoreDiscovery::Announce(const ListeningCoordinator& own, Deadline deadline,
                                      const Interrupted& interrupted) {
  const CoordinatorAnnouncement announcement{
      .run_id = own.run_id,
      .addresses = AnnouncedAddresses(own.advertised, options_.own_names),
      .since = absl::ToUnixSeconds(absl::Now())};
  HeldKeyOptions held{.key = options_.key,
                      .words = EncodeAnnouncement(announcement, options_.token),
                      .time_to_live = options_.time_to_live,
                      .on_lost = [place = place_](const absl::Status& why) {
                        LOG(WARNING) << "this rank 0 is no longer announced in " << place
                                     << ", and who starts now does not find it; the run goes on: "
                                     << why.message();
                      }};
  absl::StatusOr<HeldKey::Taken> taken =
      HeldKey::Take(store_, std::move(held), deadline, interrupted);
  if (!taken.ok()) return AsRendezvous(taken.status());
  if (taken->holder) return AlreadyThere(*taken->holder);
  LOG(INFO) << "rank 0 is announced at " << AnnouncementText(announcement) << " in " << place_;
  MutexLock lock(mutex_);
  held_ = std::move(taken->held);
  return absl::OkStatus();
}

absl::Status StoreDiscovery::AlreadyThere(const StoredValue& holder) const {
  const absl::StatusOr<CoordinatorAnnouncement> other =
      DecodeAnnouncement(holder.value, options_.token);
  return WithFailure(other.ok() ? absl::AlreadyExistsError(absl::StrCat(
                                      "this run has a rank 0 already, at ",
                                      AnnouncementText(*other), ", announced in ", place_,
                                      "; end one of the two, or give each run a place of its own"))
                                : absl::FailedPreconditionError(absl::StrCat(
                                      "rank 0 cannot announce itself in ", place_,
                                      ": what is there ", std::string(other.status().message()),
                                      "; remove it, or give each run a place of its own")),
                     Failure::kRendezvous);
}

void StoreDiscovery::Withdraw() {
  std::unique_ptr<HeldKey> held;
  MutexLock lock(mutex_);
  held.swap(held_);
}

absl::StatusOr<FoundCoordinator> StoreDiscovery::Ask(const StoredValue& announced,
                                                     Deadline deadline) const {
  const absl::StatusOr<CoordinatorAnnouncement> rank_zero =
      DecodeAnnouncement(announced.value, options_.token);
  if (!rank_zero.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "what is there ", std::string(rank_zero.status().message()),
        "; if nobody replaces it, remove it, or give each run a place and a token of its own"));
  }
  const ProbeAnswer answer = options_.probe({.addresses = rank_zero->addresses,
                                             .service = ServiceOfRun(rank_zero->run_id),
                                             .certified_name = ""},
                                            Soon(deadline, kAnswer));
  if (answer.coordinator) return FoundCoordinator{*answer.coordinator, ""};
  return absl::UnavailableError(absl::StrCat(
      "it is announced at ", AnnouncementText(*rank_zero), ", and does not answer (",
      answer.why_not,
      "); is it alive, can this machine reach it, does its --advertise name an address that others "
      "reach, do both sides use TLS, or neither?"));
}

absl::StatusOr<FoundCoordinator> StoreDiscovery::Look(StoreRevision* seen,
                                                      Deadline deadline) const {
  ASSIGN_OR_RETURN(const std::optional<StoredValue> announced,
                   store_->Get(options_.key, Soon(deadline, kAnswer)));
  *seen = RevisionOf(announced);
  if (announced) return Ask(*announced, deadline);
  return absl::UnavailableError(
      "nothing is announced there; is rank 0 started, with the same --coordinator?");
}

absl::StatusOr<FoundCoordinator> StoreDiscovery::Find(Deadline deadline,
                                                      const Interrupted& interrupted) {
  const Deadline begin = steady_clock::now();
  while (true) {
    RETURN_IF_ERROR(interrupted());
    StoreRevision seen = 0;
    absl::StatusOr<FoundCoordinator> found = Look(&seen, deadline);
    if (found.ok()) return found;
    const bool over = steady_clock::now() + kRetry >= deadline;
    if (over || !absl::IsUnavailable(found.status())) {
      return RankZeroNotFound(place_, steady_clock::now() - begin, found.status());
    }
    // Ends when rank 0 says something new; what it said before is asked again soon.
    const absl::Status waited =
        store_->AwaitChange(options_.key, seen, Soon(deadline, seen == 0 ? kSlice : kRetry))
            .status();
    if (!waited.ok()) std::this_thread::sleep_until(Soon(deadline, kRetry));
  }
}

}  // namespace grapevine
