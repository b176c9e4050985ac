#include "node/discovery/store_discovery.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/units.h"
#include "node/discovery/announcement.pb.h"
#include "node/discovery/discovery.h"
#include "system/deadline.h"

namespace grapevine {

namespace {

constexpr size_t kMostRunId = 64;
constexpr size_t kMostHost = 255;
constexpr int64_t kLatestSince = 253402300799;  // the end of the year 9999

// Returns the text that the proof covers, unambiguous whatever the addresses are.
std::string Claim(const discovery::Announcement& announcement) {
  std::string claim = absl::StrCat("coordinator ", announcement.run_id().size(), ":",
                                   announcement.run_id(), " ", announcement.since());
  for (const std::string& address : announcement.addresses()) {
    absl::StrAppend(&claim, " ", address.size(), ":", address);
  }
  if (announcement.rank() != 0) absl::StrAppend(&claim, " rank ", announcement.rank());
  if (announcement.tenure() != 0) absl::StrAppend(&claim, " tenure ", announcement.tenure());
  return claim;
}

std::string Claim(const discovery::RunEnd& end) {
  return absl::StrCat("end ", end.run_id().size(), ":", end.run_id(), " ", end.failure(), " ",
                      end.message().size(), ":", end.message(), " tenure ", end.tenure());
}

bool CanBeDialled(const HostAddress& address) {
  return !address.host.empty() && address.host.size() <= kMostHost && address.port > 0 &&
         !IsEverywhere(address.host);
}

bool IsRunId(const std::string& id) {
  return !id.empty() && id.size() <= kMostRunId && std::ranges::all_of(id, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
}

}  // namespace

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token) {
  discovery::Announcement encoded;
  encoded.set_run_id(announcement.run_id);
  for (const HostAddress& address : announcement.addresses) {
    encoded.add_addresses(FormatHostAddress(address));
  }
  encoded.set_since(announcement.since);
  encoded.set_rank(announcement.rank);
  encoded.set_tenure(announcement.tenure);
  encoded.set_proof(token.Proof(Claim(encoded)));
  return encoded.SerializeAsString();
}

absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token) {
  const absl::Status foreign = absl::InvalidArgumentError("is no announcement of a rank 0");
  discovery::Announcement encoded;
  if (!encoded.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !IsRunId(encoded.run_id()) || encoded.addresses().empty() ||
      static_cast<size_t>(encoded.addresses_size()) > CoordinatorAnnouncement::kMostAddresses ||
      encoded.since() < 0 || encoded.since() > kLatestSince || encoded.rank() < 0) {
    return foreign;
  }
  CoordinatorAnnouncement announcement{.run_id = encoded.run_id(),
                                       .addresses = {},
                                       .since = encoded.since(),
                                       .rank = encoded.rank(),
                                       .tenure = encoded.tenure()};
  for (const std::string& text : encoded.addresses()) {
    absl::StatusOr<HostAddress> address = ParseHostAddress(text);
    if (!address.ok() || !CanBeDialled(*address)) return foreign;
    announcement.addresses.push_back(*std::move(address));
  }
  if (token.Accepts(encoded.proof(), Claim(encoded))) return announcement;
  return absl::InvalidArgumentError(
      "does not show the run's token (another run's, or not of this run's rank 0)");
}

std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names) {
  if (!advertised.host.empty()) return {advertised};
  std::vector<HostAddress> addresses;
  for (const std::string& name : own_names) {
    const HostAddress address{name, advertised.port};
    const bool scoped = name.find('%') != std::string::npos;  // meaningful on this link only
    const absl::StatusOr<HostAddress> parsed = ParseHostAddress(FormatHostAddress(address));
    if (scoped || IsLoopback(name) || !parsed.ok() || !CanBeDialled(*parsed)) continue;
    if (addresses.size() < CoordinatorAnnouncement::kMostAddresses) addresses.push_back(address);
  }
  if (addresses.empty()) addresses.push_back({"127.0.0.1", advertised.port});
  return addresses;
}

std::string AnnouncementText(const CoordinatorAnnouncement& announcement) {
  const auto format = [](std::string* out, const HostAddress& address) {
    out->append(FormatHostAddress(address));
  };
  return absl::StrCat(
      absl::StrJoin(announcement.addresses, ", ", format), " (since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixSeconds(announcement.since),
                       absl::UTCTimeZone()),
      ")");
}

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswer{2000};  // time for a store, or for rank 0, to answer
constexpr milliseconds kSlice{1000};   // longest part of a wait between two checks whether to go on
constexpr milliseconds kRetry{250};
constexpr milliseconds kPrecedence{20};  // between two looks at a role that others may take first
constexpr size_t kMostMessage = 4000;

// Returns a random number that is not 0 and that no other holder has.
uint64_t NewTenure() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;
}

absl::Status AsRendezvous(const absl::Status& status) {
  return FailureOf(status) == Failure::kOther ? WithFailure(status, Failure::kRendezvous) : status;
}

}  // namespace

StoreDiscovery::StoreDiscovery(std::shared_ptr<Store> store, StoreDiscoveryOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      place_(absl::StrCat(store_->name(), ", key ", options_.key)) {
  keeper_ = std::thread([this] { KeepRole(); });
}

StoreDiscovery::~StoreDiscovery() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  keeper_.join();
}

HeldKeyOptions StoreDiscovery::Holding(const CoordinatorAnnouncement& announcement) {
  return {.key = options_.key,
          .words = EncodeAnnouncement(announcement, options_.token),
          .time_to_live = options_.time_to_live,
          .on_lost = [this](const absl::Status& why) {
            LOG(WARNING) << "this node is no longer announced in " << place_
                         << ", and tries to be again; until then it leaves nobody out and writes "
                            "nothing of the run: "
                         << why.message();
            MutexLock lock(mutex_);
            loss_ = {steady_clock::now(), why};
            changed_.NotifyAll();
          }};
}

absl::StatusOr<HeldKey::Taken> StoreDiscovery::Take(const CoordinatorAnnouncement& announcement,
                                                    bool waits, std::optional<StoreRevision> claim,
                                                    Deadline deadline,
                                                    const Interrupted& interrupted) {
  HeldKeyOptions holding = Holding(announcement);
  holding.waits = waits;
  ASSIGN_OR_RETURN(HeldKey::Taken taken,
                   HeldKey::Take(store_, std::move(holding), deadline, interrupted));
  if (taken.holder) return taken;
  if (!claim) {
    ASSIGN_OR_RETURN(const std::optional<StoredValue> found, LookAtClaim(deadline));
    claim = RevisionOf(found);
  }
  RETURN_IF_ERROR(ClaimRole(announcement, *claim, deadline));
  MutexLock lock(mutex_);
  known_ = announcement.tenure;
  held_ = std::move(taken.held);
  if (held_->IsHeld()) loss_.reset();
  announced_ = announcement;
  superseded_ = absl::OkStatus();
  return HeldKey::Taken{};
}

absl::StatusOr<std::optional<StoredValue>> StoreDiscovery::LookAtClaim(Deadline deadline) {
  return store_->Get(LastKey(), Soon(deadline, kAnswer));
}

absl::Status StoreDiscovery::ClaimRole(const CoordinatorAnnouncement& own, StoreRevision claim,
                                       Deadline deadline) {
  ASSIGN_OR_RETURN(const std::optional<StoreRevision> written,
                   store_->CompareAndSwap(LastKey(), claim, EncodeAnnouncement(own, options_.token),
                                          0, Soon(deadline, kAnswer)));
  return written ? absl::OkStatus() : absl::AbortedError("another node has taken the role since");
}

absl::Status StoreDiscovery::Announce(const ListeningCoordinator& own, Deadline deadline,
                                      const Interrupted& interrupted) {
  const CoordinatorAnnouncement announcement{
      .run_id = own.run_id,
      .addresses = AnnouncedAddresses(own.advertised, options_.own_names),
      .since = absl::ToUnixSeconds(absl::Now()),
      .tenure = NewTenure()};
  const absl::StatusOr<HeldKey::Taken> taken =
      Take(announcement, /*waits=*/true, std::nullopt, deadline, interrupted);
  if (!taken.ok()) return AsRendezvous(taken.status());
  if (taken->holder) return AlreadyThere(*taken->holder);
  LOG(INFO) << "rank 0 is announced at " << AnnouncementText(announcement) << " in " << place_;
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
  announced_.reset();
  changed_.NotifyAll();
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
                                             .certified_name = "",
                                             .rank = rank_zero->rank},
                                            Soon(deadline, kAnswer));
  if (answer.coordinator) return FoundCoordinator{*answer.coordinator, "", rank_zero->rank};
  return absl::UnavailableError(absl::StrCat(
      "it is announced at ", AnnouncementText(*rank_zero), ", and does not answer (",
      answer.why_not,
      "); is it alive, can this machine reach it, does its --advertise name an address that others "
      "reach, do both sides use TLS, or neither?"));
}

absl::StatusOr<FoundCoordinator> StoreDiscovery::Look(StoreRevision* seen, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::optional<StoredValue> announced,
                   store_->Get(options_.key, Soon(deadline, kAnswer)));
  *seen = RevisionOf(announced);
  if (announced) {
    absl::StatusOr<FoundCoordinator> found = Ask(*announced, deadline);
    const absl::StatusOr<CoordinatorAnnouncement> holder =
        DecodeAnnouncement(announced->value, options_.token);
    MutexLock lock(mutex_);
    if (found.ok() && holder.ok()) known_ = holder->tenure;
    return found;
  }
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
    // The wait ends when rank 0 announces something new. A known announcement is asked again soon.
    const absl::Status waited =
        store_->AwaitChange(options_.key, seen, Soon(deadline, seen == 0 ? kSlice : kRetry))
            .status();
    if (!waited.ok()) std::this_thread::sleep_until(Soon(deadline, kRetry));
  }
}

std::string StoreDiscovery::EndKey() const { return absl::StrCat(options_.key, "-over"); }
std::string StoreDiscovery::LastKey() const { return absl::StrCat(options_.key, "-last"); }

std::chrono::milliseconds StoreDiscovery::LongestVacancy() const {
  constexpr milliseconds kLeeway{5000};  // for a store that lets a lease live a little longer
  return options_.time_to_live + kLeeway;
}

void StoreDiscovery::OnSuperseded(std::function<void(const absl::Status& why)> told) {
  MutexLock lock(mutex_);
  on_superseded_ = std::move(told);
}

absl::Status StoreDiscovery::Check() {
  MutexLock lock(mutex_);
  const bool held = held_ != nullptr && held_->IsHeld() && superseded_.ok();
  return held ? absl::OkStatus() : Lapsed();
}

absl::Status StoreDiscovery::Await(std::chrono::nanoseconds patience) {
  std::chrono::nanoseconds left = patience;
  while (true) {
    const absl::Status status = Check();
    MutexLock lock(mutex_);
    if (status.ok() || IsGivenUp() || left.count() <= 0) return status;
    const auto slice = std::min<std::chrono::nanoseconds>(left, kRetry);
    changed_.WaitUntil(mutex_, steady_clock::now() + slice);
    left -= slice;
  }
}

bool StoreDiscovery::IsGivenUp() const { return stopped_ || !announced_ || !superseded_.ok(); }

absl::Status StoreDiscovery::Lapsed() const {
  if (!superseded_.ok()) return superseded_;
  if (!announced_) {
    return WithFailure(absl::AbortedError("this node has given rank 0's role up"),
                       Failure::kPeerLost);
  }
  const std::string since =
      loss_ ? absl::StrCat("for ", HumanSeconds(steady_clock::now() - loss_->at), " (",
                           std::string(loss_->why.message()), ")")
            : "in time";
  return WithFailure(
      absl::AbortedError(absl::StrCat("another node may have rank 0's role by now: ", place_,
                                      " has not confirmed this node's ", since,
                                      "; look at the way from this machine to it, and if no other "
                                      "node has gone on with the run, "
                                      "start the run again with --resume")),
      Failure::kPeerLost);
}

absl::Status StoreDiscovery::EndRun(const std::string& run_id, const absl::Status& how) {
  discovery::RunEnd end;
  end.set_run_id(run_id);
  end.set_message(Printable(std::string(how.message()), kMostMessage));
  end.set_failure(static_cast<int>(FailureOf(how)));
  end.set_tenure(KnownTenure());
  end.set_proof(options_.token.Proof(Claim(end)));
  return store_->Put(EndKey(), end.SerializeAsString(), 0, steady_clock::now() + kAnswer).status();
}

absl::StatusOr<std::optional<MovingRole::Over>> StoreDiscovery::LookForEnd(
    const std::string& run_id, const std::optional<StoredValue>& claim, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::optional<StoredValue> found,
                   store_->Get(EndKey(), Soon(deadline, kAnswer)));
  discovery::RunEnd end;
  if (!claim || !found || !end.ParseFromString(found->value) || end.run_id() != run_id ||
      !options_.token.Accepts(end.proof(), Claim(end))) {
    return std::nullopt;
  }
  const absl::StatusOr<CoordinatorAnnouncement> last =
      DecodeAnnouncement(claim->value, options_.token);
  if (!last.ok() || last->tenure != end.tenure()) return std::nullopt;
  if (end.failure() == 0) return Over{absl::OkStatus()};
  return Over{WithFailure(absl::AbortedError(Printable(end.message(), kMostMessage)),
                          FailureFromNumber(end.failure()))};
}

namespace {

bool IsOnThisMachine(const CoordinatorAnnouncement& holder) {
  return std::ranges::all_of(holder.addresses,
                             [](const HostAddress& at) { return IsLoopback(at.host); });
}

}  // namespace

absl::StatusOr<StoreDiscovery::Seen> StoreDiscovery::LookForHolder(const Candidate& candidate,
                                                                   Deadline deadline) {
  // The claim is read first, and the end last: a node that takes the role by what it reads here,
  // and by this claim, takes no role of a run that has ended meanwhile.
  ASSIGN_OR_RETURN(const std::optional<StoredValue> claim, LookAtClaim(deadline));
  ASSIGN_OR_RETURN(const std::optional<StoredValue> found,
                   store_->Get(options_.key, Soon(deadline, kAnswer)));
  Seen seen{.claim = RevisionOf(claim)};
  ASSIGN_OR_RETURN(seen.over, LookForEnd(candidate.run_id, claim, deadline));
  if (!found) return seen;
  seen.revision = found->modified;
  seen.lease = found->lease;
  absl::StatusOr<CoordinatorAnnouncement> announcement =
      DecodeAnnouncement(found->value, options_.token);
  if (announcement.ok() && announcement->run_id == candidate.run_id) {
    seen.holder = *std::move(announcement);
  }
  return seen;
}

RoleSearch::Step StoreDiscovery::NextStep(const absl::StatusOr<Seen>& seen, RoleSearch* search) {
  const auto now = steady_clock::now();
  if (!seen.ok()) return search->AfterTrouble(now);
  RoleSearch::Seen told{.over = seen->over.has_value(), .taken = seen->revision != 0};
  if (seen->holder) {
    told.holder = RoleSearch::Holder{.rank = seen->holder->rank,
                                     .tenure = seen->holder->tenure,
                                     .on_this_machine = IsOnThisMachine(*seen->holder)};
  }
  const RoleSearch::Step step = search->Next(told, now);
  MutexLock lock(mutex_);
  known_ = search->known();
  return step;
}

absl::StatusOr<MovingRole::Settled> StoreDiscovery::Settle(const Candidate& candidate,
                                                           Deadline deadline,
                                                           const Interrupted& interrupted) {
  const CoordinatorAnnouncement own{
      .run_id = candidate.run_id,
      .addresses = AnnouncedAddresses(candidate.advertised, options_.own_names),
      .since = absl::ToUnixSeconds(absl::Now()),
      .rank = candidate.rank,
      .tenure = NewTenure()};
  RoleSearch search({.lost = candidate.lost,
                     .known = KnownTenure(),
                     .gone = candidate.gone,
                     .own = own.tenure,
                     .begin = steady_clock::now(),
                     .precedence = candidate.delay,
                     .deadline = deadline});
  while (true) {
    RETURN_IF_ERROR(interrupted());
    absl::StatusOr<Seen> seen = LookForHolder(candidate, deadline);
    absl::Status trouble = seen.status();
    RoleSearch::Step step = NextStep(seen, &search);
    if (step == RoleSearch::Step::kRelease) {
      // A holder that lives all the same takes the role again, or hears that another node has it.
      trouble = store_->Revoke(seen->lease, Soon(deadline, kAnswer));
      if (trouble.ok()) seen = Seen{.claim = seen->claim};
      step = trouble.ok() ? NextStep(seen, &search) : search.AfterTrouble(steady_clock::now());
    }
    if (step == RoleSearch::Step::kTake) {
      const absl::StatusOr<HeldKey::Taken> taken =
          Take(own, /*waits=*/false, seen->claim, Soon(deadline, kAnswer), interrupted);
      if (taken.ok() && !taken->holder) return Holder{.rank = candidate.rank, .own = true};
      if (taken.ok()) continue;
      trouble = taken.status();
      step = search.AfterTrouble(steady_clock::now());
    }
    if (step == RoleSearch::Step::kEnd) return *std::move(seen->over);
    if (step == RoleSearch::Step::kFollow) {
      return Holder{.rank = seen->holder->rank, .own = false};
    }
    if (step == RoleSearch::Step::kGiveUp) {
      return absl::UnavailableError(absl::StrCat(
          "its role is still taken, or cannot be taken, in ", place_,
          trouble.ok() ? "" : absl::StrCat(" (", std::string(trouble.message()), ")")));
    }
    AwaitNews(seen, deadline);
  }
}

uint64_t StoreDiscovery::KnownTenure() {
  MutexLock lock(mutex_);
  return known_;
}

void StoreDiscovery::AwaitNews(const absl::StatusOr<Seen>& seen, Deadline deadline) {
  const bool vacant = seen.ok() && seen->revision == 0;
  const StoreRevision known = seen.ok() ? seen->revision : 0;
  // Others have the precedence for a vacant role.
  const bool waited =
      !vacant && store_->AwaitChange(options_.key, known, Soon(deadline, kSlice)).ok();
  if (!waited) std::this_thread::sleep_for(kPrecedence);
}

void StoreDiscovery::KeepRole() {
  while (true) {
    CoordinatorAnnouncement own;
    {
      MutexLock lock(mutex_);
      while (!stopped_ && (!loss_ || IsGivenUp())) {
        changed_.WaitUntil(mutex_, steady_clock::now() + kSlice);
      }
      if (stopped_) return;
      own = *announced_;
    }
    TakeAgain(own);
  }
}

void StoreDiscovery::TakeAgain(const CoordinatorAnnouncement& own) {
  const auto given_up = [this] {
    MutexLock lock(mutex_);
    return IsGivenUp() ? absl::CancelledError("the run is over") : absl::OkStatus();
  };
  LapsedRole lapsed;
  std::unique_ptr<HeldKey> held;
  StoreRevision claim = 0;
  const auto take_step = [&]() -> absl::Status {
    const Deadline soon = steady_clock::now() + kAnswer;
    if (lapsed.step() == LapsedRole::Step::kLook) {
      ASSIGN_OR_RETURN(const std::optional<StoredValue> last, LookAtClaim(soon));
      claim = RevisionOf(last);
      lapsed.OnLooked(last && last->value == EncodeAnnouncement(own, options_.token));
    } else if (lapsed.step() == LapsedRole::Step::kTake) {
      ASSIGN_OR_RETURN(
          HeldKey::Taken taken,
          HeldKey::Take(store_, Holding(own), steady_clock::now() + LongestVacancy(), given_up));
      held = std::move(taken.held);
      lapsed.OnTaken(held != nullptr);
    } else {
      RETURN_IF_ERROR(ClaimRole(own, claim, soon));
      lapsed.OnClaimed();
    }
    return absl::OkStatus();
  };
  while (given_up().ok()) {
    if (lapsed.step() == LapsedRole::Step::kRegained) return Regain(std::move(held));
    if (lapsed.step() == LapsedRole::Step::kYield) return Supersede();
    if (take_step().ok()) continue;
    held.reset();
    lapsed.OnTrouble();
    std::this_thread::sleep_for(kRetry);
  }
}

void StoreDiscovery::Regain(std::unique_ptr<HeldKey> held) {
  std::unique_ptr<HeldKey> before;  // a key whose own thread has ended, or is about to
  MutexLock lock(mutex_);
  if (!announced_) return;
  before = std::exchange(held_, std::move(held));
  if (held_->IsHeld()) loss_.reset();
  changed_.NotifyAll();
  LOG(WARNING) << "this node is announced again in " << place_;
}

void StoreDiscovery::Supersede() {
  MutexLock lock(mutex_);
  if (!announced_) return;
  superseded_ = WithFailure(
      absl::AbortedError(absl::StrCat("another node has its role by now, as ", place_,
                                      " says: the others have lost it, and go on without it")),
      Failure::kPeerLost);
  changed_.NotifyAll();
  if (on_superseded_) on_superseded_(superseded_);
}

}  // namespace grapevine
