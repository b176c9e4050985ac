#include "experiment/real/node_chaos.h"

#include <glog/logging.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "run/chaos/fault_timeline.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;

// The least time that Linux waits before it sends packets again (TCP_RTO_MIN).
constexpr std::chrono::milliseconds kRetransmission{200};
// The longest time between two looks of the watch.
constexpr std::chrono::seconds kLongestWatch{60};

// Makes every later write that would make a file longer fail, as on a full disk (EFBIG for ENOSPC).
void LetNoFileGrow() {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  limit.rlim_cur = 0;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) PLOG(ERROR) << "--chaos: setrlimit";
}

}  // namespace

absl::StatusOr<std::unique_ptr<NodeChaos>> NodeChaos::Make(NodeChaosOptions options) {
  for (const Fault& fault : options.faults) {
    if (fault.ranks.empty() || fault.ranks[0] != options.rank || options.launcher) continue;
    if (fault.kind == FaultKind::kStop) {
      return UsageError(absl::StrCat("--chaos=", FaultText(fault),
                                     ": nobody would let a stopped process go on; stop nodes of "
                                     "`grapevine train`, or by hand (kill -STOP, kill -CONT)"));
    }
    if (fault.kind == FaultKind::kKill && fault.duration != Fault::kForever) {
      return UsageError(absl::StrCat("--chaos=", FaultText(fault),
                                     ": nobody would start another process; kill nodes of "
                                     "`grapevine train`, or start one by hand (--join)"));
    }
  }
  return std::unique_ptr<NodeChaos>(new NodeChaos(std::move(options)));
}

NodeChaos::NodeChaos(NodeChaosOptions options)
    : options_(std::move(options)), timeline_(options_.faults) {}

NodeChaos::~NodeChaos() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  if (watch_.joinable()) watch_.join();
}

absl::Status NodeChaos::Start(const std::string& run_directory, Round completed,
                              std::chrono::nanoseconds time, bool newcomer) {
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> record, LineFile::Open(ChaosPath(run_directory)));
  {
    MutexLock lock(mutex_);
    record_ = std::move(record);
    start_ = steady_clock::now() - time;
    if (completed > 0) {
      timeline_ = FaultTimeline(newcomer ? LeftForNewcomer(options_.faults, completed, time)
                                         : LeftOf(options_.faults, completed, time));
    }
  }
  OnRound(completed);
  watch_ = std::thread([this] { Watch(); });
  return absl::OkStatus();
}

FaultTimeline::Time NodeChaos::Now() const {
  return start_ ? FaultTimeline::Time(steady_clock::now() - *start_) : FaultTimeline::Time(-1);
}

void NodeChaos::OnRound(Round completed) {
  MutexLock lock(mutex_);
  round_ = completed;
  for (const auto& begun : timeline_.OnRound(options_.rank, completed, Now())) Begin(begun);
}

void NodeChaos::Watch() {
  MutexLock lock(mutex_);
  while (!ending_) {
    for (const auto& begun : timeline_.TakeDue(Now())) Begin(begun);
    const FaultTimeline::Time next = timeline_.NextDue();
    if (next == FaultTimeline::kNever) return;
    changed_.WaitUntil(mutex_,
                       *start_ + std::min<FaultTimeline::Time>(next, Now() + kLongestWatch));
  }
}

void NodeChaos::Begin(const FaultTimeline::Begun& begun) {
  // Each fault is recorded once: by the node that it is about, or the first that it names.
  const Fault& fault = *begun.fault;
  const Rank first = fault.ranks.empty() ? 0 : fault.ranks[0];
  if (first != options_.rank) return;
  Record(begun);
  if (fault.IsOfProcess()) Strike(fault);
}

void NodeChaos::Record(const FaultTimeline::Begun& begun) {
  LOG(WARNING) << "--chaos: " << FaultText(*begun.fault) << " begins in round " << round_;
  const absl::Status status = record_->Append(ChaosLine(begun, round_, Now()));
  if (!status.ok()) LOG(WARNING) << status.message();
}

void NodeChaos::Strike(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kKill:
      if (fault.duration != Fault::kForever) TellLauncher("back ", fault);
      kill(getpid(), SIGKILL);
      return;
    case FaultKind::kStop:
      return TellLauncher("", fault);
    case FaultKind::kDiskFull:
      return LetNoFileGrow();
    default:
      return;
  }
}

void NodeChaos::TellLauncher(std::string_view what, const Fault& fault) const {
  const std::string line =
      absl::StrCat(std::string(what), options_.rank, " ", fault.duration.count(), "\n");
  (void)!write(*options_.launcher, line.data(), line.size());
}

double NodeChaos::Slowness() {
  MutexLock lock(mutex_);
  return timeline_.Slowness(options_.rank, Now());
}

bool NodeChaos::Cuts(Rank peer) {
  MutexLock lock(mutex_);
  return timeline_.HoldsBetween(FaultKind::kCut, options_.rank, peer, Now());
}

bool NodeChaos::Holds(Rank peer) {
  MutexLock lock(mutex_);
  const auto held = held_until_.find(peer);
  if (held != held_until_.end() && Now() < held->second) return true;
  return timeline_.HoldsBetween(FaultKind::kPartition, options_.rank, peer, Now());
}

bool NodeChaos::Drops(Rank peer) {
  MutexLock lock(mutex_);
  const double chance = timeline_.DropChance(options_.rank, peer, Now());
  const auto way = static_cast<uint64_t>(options_.rank) << 32 | static_cast<uint64_t>(peer);
  KeyedRandom random(options_.seed, Purpose::kChaos, way,
                     static_cast<uint64_t>(chunks_[peer]++) | uint64_t{1} << 63);
  if (chance == 0 || random.Unit() >= chance) return false;
  held_until_[peer] = Now() + kRetransmission;
  return true;
}

bool NodeChaos::Corrupts(Rank peer) {
  MutexLock lock(mutex_);
  if (!timeline_.HoldsBetween(FaultKind::kCorrupt, options_.rank, peer, Now())) return false;
  return corrupted_.insert(peer).second;
}

}  // namespace grapevine
