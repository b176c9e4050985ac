#include "node/launch/launch_plan.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {
namespace {

// Returns the weight of an end: the lower the weight, the more the end explains.
int Weight(const ChildEnd& end) {
  if (!end.lost.empty()) return end.signalled ? 2 : 0;
  if (end.wait_status == 0) return 5;
  if (WIFSIGNALED(end.wait_status)) return end.signalled ? 2 : 0;
  if (end.signalled) return 4;
  return WEXITSTATUS(end.wait_status) == static_cast<int>(Failure::kPeerLost) ? 3 : 1;
}

std::string SignalText(int signal) {
  const char* description = sigdescr_np(signal);
  return absl::StrCat("signal ", signal, description == nullptr ? "" : ", ",
                      description == nullptr ? "" : description);
}

const char* Remedy(int signal) {
  return signal == SIGKILL ? " (by hand, or by the kernel because memory ran out: see its log)"
                           : "";
}

bool EndedWell(const ChildEnd& end) { return end.wait_status == 0 && end.lost.empty(); }

// Returns "process 123 on node2".
std::string ProcessText(pid_t process, std::string_view host) {
  return absl::StrCat("process ", process, host.empty() ? "" : " on ", std::string(host));
}

// Returns the error that names all ranks that are lost with the host of `cause`.
absl::Status LostWithItsHost(std::span<const ChildEnd> ends, const ChildEnd& cause) {
  std::vector<Rank> there;
  for (const ChildEnd& end : ends) {
    if (!end.lost.empty() && end.host == cause.host) there.push_back(end.rank);
  }
  std::ranges::sort(there);
  return WithFailure(
      absl::AbortedError(absl::StrCat(
          there.size() == 1 ? "rank " : "ranks ", absl::StrJoin(there, ", "),
          there.size() == 1 ? " is" : " are", " lost with ", cause.host, ", which ", cause.lost)),
      Failure::kPeerLost);
}

// Returns the error that names all ranks that ended as `cause` did: nodes that hear of a verdict
// end with its code, in any order, so that none of them is to be blamed alone.
absl::Status EndedAlike(std::span<const ChildEnd> ends, const ChildEnd& cause) {
  std::vector<Rank> alike;
  for (const ChildEnd& end : ends) {
    if (end.wait_status == cause.wait_status && end.signalled == cause.signalled) {
      alike.push_back(end.rank);
    }
  }
  std::ranges::sort(alike);
  const int code = WEXITSTATUS(cause.wait_status);
  const std::string text =
      alike.size() == 1
          ? absl::StrCat("rank ", cause.rank, " (", ProcessText(cause.pid, cause.host),
                         ") ended with exit code ", code, "; its last lines say why")
          : absl::StrCat("ranks ", absl::StrJoin(alike, ", "), " ended with exit code ", code,
                         "; their last lines say why");
  return WithFailure(absl::AbortedError(text), FailureFromNumber(code));
}

absl::Status Deserted() {
  return WithFailure(
      absl::AbortedError("all nodes that were in the run are lost, and its model with them: "
                         "nobody is left for others to come in"),
      Failure::kPeerLost);
}

using std::chrono::milliseconds;
using Time = LaunchPlan::Time;

Time After(Time start, milliseconds wait) {
  return start > LaunchPlan::kNever - wait ? LaunchPlan::kNever : start + wait;
}

}  // namespace

absl::Status Interrupted(std::span<const ChildEnd> ends, int signal) {
  std::vector<Rank> killed;
  for (const ChildEnd& end : ends) {
    if (end.signalled && WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL) {
      killed.push_back(end.rank);
    }
  }
  std::string text = absl::StrCat("ended by ", SignalText(signal));
  if (!killed.empty()) {
    std::ranges::sort(killed);
    absl::StrAppend(&text, killed.size() == 1 ? "; rank " : "; ranks ", absl::StrJoin(killed, ", "),
                    " had to be killed");
  }
  return WithFailure(absl::CancelledError(text),
                     signal == SIGINT ? Failure::kInterrupted : Failure::kTerminated);
}

absl::Status LaunchOutcome(std::span<const ChildEnd> ends, int interrupted_by) {
  const auto cause =
      std::min_element(ends.begin(), ends.end(),
                       [](const ChildEnd& a, const ChildEnd& b) { return Weight(a) < Weight(b); });
  if (cause == ends.end() || EndedWell(*cause)) return absl::OkStatus();
  if (interrupted_by != 0) return Interrupted(ends, interrupted_by);
  if (!cause->lost.empty()) return LostWithItsHost(ends, *cause);
  const std::string who =
      absl::StrCat("rank ", cause->rank, " (", ProcessText(cause->pid, cause->host), ")");
  if (WIFSIGNALED(cause->wait_status) && cause->signalled) {
    return WithFailure(
        absl::AbortedError(absl::StrCat(who,
                                        " did not end when the others did, and was killed; it "
                                        "was stopped, or it hangs")),
        Failure::kPeerLost);
  }
  if (WIFSIGNALED(cause->wait_status)) {
    return WithFailure(absl::AbortedError(absl::StrCat(who, " was killed by ",
                                                       SignalText(WTERMSIG(cause->wait_status)),
                                                       Remedy(WTERMSIG(cause->wait_status)))),
                       Failure::kPeerLost);
  }
  return EndedAlike(ends, *cause);
}

Failure FailureOfEnd(const ChildEnd& end) {
  if (!end.lost.empty()) return Failure::kPeerLost;
  if (end.wait_status == 0) return Failure::kNone;
  if (WIFSIGNALED(end.wait_status)) return Failure::kPeerLost;
  return FailureFromNumber(WEXITSTATUS(end.wait_status));
}

LaunchPlan::LaunchPlan(const LaunchPlanOptions& options, Time now)
    : options_(options), port_deadline_(After(now, options.rendezvous_timeout)) {}

std::optional<Rank> LaunchPlan::next() const {
  const auto rank = static_cast<Rank>(children_.size());
  const bool may_start = rank == 0 || (listening_ && rank < options_.nodes);
  return may_start && !ending() ? std::optional(rank) : std::nullopt;
}

void LaunchPlan::OnStarted(pid_t process) { children_.push_back({.process = process}); }

void LaunchPlan::OnRunning(Rank rank, pid_t process) {
  children_[static_cast<size_t>(rank)].process = process;
}

void LaunchPlan::OnNotStarted(Rank rank, const absl::Status& why, Time now) {
  children_[static_cast<size_t>(rank)].ended = true;
  ends_.push_back(EndOf(rank, 0));
  OnFailure(absl::Status(why.code(), absl::StrCat("rank ", rank, ": ", why.message())), now);
}

ChildEnd LaunchPlan::EndOf(Rank rank, int wait_status) const {
  const Child& child = children_[static_cast<size_t>(rank)];
  ChildEnd end{rank, child.process, wait_status, child.signalled, child.joined};
  if (!options_.hosts.empty()) end.host = options_.hosts[static_cast<size_t>(rank)];
  return end;
}

std::optional<Rank> LaunchPlan::next_restart(Time now) const {
  const auto due = std::ranges::find_if(
      children_, [now](const Child& child) { return now >= child.restart_at; });
  if (due == children_.end() || !restarts()) return std::nullopt;
  return static_cast<Rank>(due - children_.begin());
}

void LaunchPlan::OnRestarted(Rank rank, pid_t process) {
  Child& child = children_[static_cast<size_t>(rank)];
  const auto wish = child.returns ? child.returns : child.again;
  child = {.process = process, .again = wish, .joined = true};
  std::erase_if(ends_, [rank](const ChildEnd& end) { return end.rank == rank; });
}

void LaunchPlan::OnReturn(Rank rank, std::chrono::nanoseconds delay) {
  if (rank < 0 || rank >= static_cast<Rank>(children_.size()) || !options_.survives) return;
  children_[static_cast<size_t>(rank)].returns = std::chrono::ceil<milliseconds>(delay);
}

void LaunchPlan::OnCameIn(Rank rank) {
  if (rank < 0 || rank >= static_cast<Rank>(children_.size())) return;
  children_[static_cast<size_t>(rank)].in = begun_ = true;
}

bool LaunchPlan::deserted() const {
  const auto is_in = [](const Child& child) { return child.in && !child.ended; };
  return begun_ && restarts() && std::ranges::none_of(children_, is_in);
}

bool LaunchPlan::stranded() const {
  if (!options_.survives || !begun_ || !restarts()) return false;
  Rank left = 0;
  Time held_since = kNever;
  for (const Child& child : children_) {
    if (!IsLeft(child)) continue;
    const bool goes_on_in_time = child.paused_until <= After(last_end_, options_.peer_timeout);
    if (child.held_since == kNever || goes_on_in_time) return false;
    held_since = std::min(held_since, child.held_since);
    ++left;
  }
  return left == 1 ? options_.nodes > 1 : left > 1 && last_end_ >= held_since;
}

absl::Status LaunchPlan::Stranded(Time now) const {
  std::vector<std::string> who;
  Time since = kNever;
  for (Rank rank = 0; rank < static_cast<Rank>(children_.size()); ++rank) {
    const Child& child = children_[static_cast<size_t>(rank)];
    if (!IsLeft(child)) continue;
    since = std::min(since, child.held_since);
    who.push_back(
        absl::StrCat("rank ", rank, " (", ProcessText(child.process, EndOf(rank, 0).host), ")"));
  }
  return WithFailure(
      absl::AbortedError(absl::StrCat(
          absl::StrJoin(who, ", "), who.size() == 1 ? " has" : " have",
          " been stopped (SIGSTOP) for ", HumanSeconds(now - since),
          ", and nobody else is left in the run: given up. Who is stopped on purpose must go on "
          "(kill -CONT) within --peer-timeout, which is ",
          Seconds(options_.peer_timeout), " s; a debugger or a job manager may have stopped it")),
      Failure::kPeerLost);
}

void LaunchPlan::PlanRestart(Child& child, Time now) {
  // Rank 0 begins a run, and comes into one only where its role can have moved.
  const bool may_come = &child != &children_.front() || options_.role_moves;
  if (!restarts() || !may_come || !ends_.back().lost.empty()) return;
  // The node that was to hand the model to the child may have been lost meanwhile.
  const bool could_not_come_in =
      FailureOfEnd(ends_.back()) == Failure::kPeerLost && WIFEXITED(ends_.back().wait_status);
  if (child.returns) {
    child.restart_at = After(now, *child.returns);
  } else if (child.again && could_not_come_in) {
    child.restart_at = After(now, std::max(*child.again, options_.restart_delay));
  } else if (restarted_ < options_.max_restarts) {
    ++restarted_;
    child.restart_at = After(now, options_.restart_delay);
  }
}

void LaunchPlan::OnSignal(int signal, Time now) {
  if (!interrupted()) {
    interrupted_by_ = signal;
    interrupted_at_ = now;
    kill_at_ =
        std::min({kill_at_, After(now, SignalGrace()), After(terminate_at_, options_.kill_grace)});
    terminate_at_ = kNever;
    OrderAll(signal);
    OrderAll(SIGCONT);  // a stopped child would not get `signal`
  } else if (!Echoes(signal, now)) {
    OrderAll(SIGKILL);
  }
}

bool LaunchPlan::Echoes(int signal, Time now) const {
  if (signal == SIGHUP) return true;  // a closing terminal sends it more than once
  return signal == SIGTERM && interrupted_by_ == SIGTERM && options_.saving_grace &&
         now - interrupted_at_ < options_.echo;
}

milliseconds LaunchPlan::SignalGrace() const {
  return interrupted_by_ == SIGTERM ? options_.saving_grace.value_or(options_.grace)
                                    : options_.grace;
}

void LaunchPlan::OnFailure(absl::Status why, Time now) {
  if (own_failure_.ok()) own_failure_ = std::move(why);
  BeginEnd(now);
}

void LaunchPlan::OnHeld(Rank rank, bool held, Time now) {
  Child& child = children_[static_cast<size_t>(rank)];
  child.held_since = !held ? kNever : std::min(child.held_since, now);
}

void LaunchPlan::OnPause(Rank rank, std::chrono::nanoseconds duration, Time now) {
  if (rank < 0 || rank >= static_cast<Rank>(children_.size()) || ending()) return;
  Child& child = children_[static_cast<size_t>(rank)];
  if (child.ended) return;
  const Time until = After(now, std::chrono::ceil<milliseconds>(duration));
  // Two pauses at once end together.
  child.paused_until = child.paused_until == kNever ? until : std::max(child.paused_until, until);
  orders_.push_back({.rank = rank, .signal = SIGSTOP});
}

bool LaunchPlan::Survives(const ChildEnd& end) const {
  // A child that came later may not have been able to come in, which is no failure of the others.
  return options_.survives && begun_ && (end.rank != 0 || options_.role_moves) &&
         (end.joined || IsOfOneNode(FailureOfEnd(end)));
}

void LaunchPlan::OnEnded(Rank rank, int wait_status, Time now) {
  OnEnd(EndOf(rank, wait_status), now);
}

void LaunchPlan::OnLost(Rank rank, std::string_view why, Time now) {
  ChildEnd end = EndOf(rank, 0);
  end.lost = why;
  OnEnd(std::move(end), now);
}

void LaunchPlan::OnEnd(ChildEnd end, Time now) {
  const Rank rank = end.rank;
  Child& child = children_[static_cast<size_t>(rank)];
  child.ended = true;
  last_end_ = now;
  const bool well = EndedWell(end);
  ends_.push_back(std::move(end));
  if (!well && Survives(ends_.back())) {
    PlanRestart(child, now);
    if (deserted() && !over()) OnFailure(Deserted(), now);
    return;
  }
  if (!well && !begun_ && options_.survives && rank != 0) {
    PlanRestart(child, now);
    if (child.restart_at != kNever) return;  // the others wait for the new process
  }
  if (!well) {
    BeginEnd(After(now, options_.grace));
  } else if (awaiting_port()) {
    OnFailure(absl::InternalError("rank 0 ended before it reported its port"), now);
  } else {
    finished_ = std::min(finished_, now);
  }
}

std::vector<LaunchPlan::Order> LaunchPlan::Due(Time now) {
  if (awaiting_port() && now >= port_deadline_) {
    OnFailure(WithFailure(absl::DeadlineExceededError(absl::StrCat(
                              "rank 0 did not listen within ", Seconds(options_.rendezvous_timeout),
                              " s: it was still preparing, or it is held; --rendezvous-timeout is "
                              "how long that may last")),
                          Failure::kRendezvous),
              now);
  }
  stranded_.Look(stranded(), now);
  if (stranded_.lasted() >= options_.peer_timeout) OnFailure(Stranded(now), now);
  if (now >= FinishDeadline()) BeginEnd(now);
  if (now >= terminate_at_) {
    terminate_at_ = kNever;
    kill_at_ = std::min(kill_at_, After(now, options_.kill_grace));
    OrderAll(SIGTERM);
  }
  for (Rank rank = 0; rank < static_cast<Rank>(children_.size()); ++rank) {
    Child& child = children_[static_cast<size_t>(rank)];
    if (now >= child.paused_until) {
      child.paused_until = child.held_since = kNever;
      if (!child.ended && !child.killed) orders_.push_back({.rank = rank, .signal = SIGCONT});
    }
    if (now >= HeldUntil(child)) {
      Give(rank, SIGKILL, "is stopped while the others end");
    }
    if (now >= AwaitedUntil(child)) Give(rank, SIGTERM);
  }
  if (now >= kill_at_) {
    kill_at_ = kNever;
    OrderAll(SIGKILL, absl::StrCat("did not end within ",
                                   Seconds(interrupted() ? SignalGrace() : options_.kill_grace),
                                   " s of being told to"));
  }
  return std::exchange(orders_, {});
}

LaunchPlan::Time LaunchPlan::deadline() const {
  Time earliest = std::min({awaiting_port() ? port_deadline_ : kNever, FinishDeadline(),
                            terminate_at_, kill_at_, stranded_.next()});
  for (const Child& child : children_) {
    earliest = std::min({earliest, HeldUntil(child), AwaitedUntil(child), child.paused_until});
    if (restarts()) earliest = std::min(earliest, child.restart_at);
  }
  return earliest;
}

bool LaunchPlan::over() const {
  const bool awaits_restart = restarts() && std::ranges::any_of(children_, [](const Child& child) {
                                return child.restart_at != kNever;
                              });
  return (ending() || static_cast<Rank>(children_.size()) == options_.nodes) &&
         ends_.size() == children_.size() && !awaits_restart;
}

absl::Status LaunchPlan::Outcome() const {
  RETURN_IF_ERROR(own_failure_);
  if (interrupted() && static_cast<Rank>(ends_.size()) < options_.nodes) {
    return Interrupted(ends_, interrupted_by_);
  }
  // The run has succeeded if rank 0 has ended well; where rank 0's role moves, if any rank has.
  const bool counts_all = options_.role_moves && std::ranges::none_of(ends_, EndedWell);
  std::vector<ChildEnd> counted;
  std::ranges::copy_if(ends_, std::back_inserter(counted),
                       [&](const ChildEnd& end) { return counts_all || !Survives(end); });
  return LaunchOutcome(counted, interrupted_by_);
}

Time LaunchPlan::FinishDeadline() const {
  return ending() || finished_ == kNever ? kNever : After(finished_, options_.finish_timeout);
}

// A stopped child gets neither the verdict nor SIGTERM, unless it goes on in time: a failed run
// need not wait for it. In a successful run, the user may be about to continue the child.
Time LaunchPlan::HeldUntil(const Child& child) const {
  if (child.ended || child.killed || child.held_since == kNever || interrupted()) return kNever;
  const bool goes_on_in_time = child.paused_until < std::min(terminate_at_, kill_at_);
  if (failed_) return goes_on_in_time ? kNever : child.held_since;
  if (finished_ == kNever) return kNever;
  const Time since = std::max(child.held_since, finished_);
  const Time patience = After(since, options_.grace);
  const bool left_out = options_.survives &&
                        (options_.role_moves || &child != &children_.front()) &&
                        child.paused_until > patience;
  return left_out ? since : patience;
}

Time LaunchPlan::AwaitedUntil(const Child& child) const {
  const bool awaited = child.joined && !child.in && !child.ended && !child.signalled && !ending();
  return awaited && finished_ != kNever ? After(finished_, options_.grace) : kNever;
}

void LaunchPlan::BeginEnd(Time terminate_at) {
  if (interrupted()) return;  // the children have been told to end
  failed_ = true;
  terminate_at_ = kill_at_ == kNever ? std::min(terminate_at_, terminate_at) : kNever;
}

void LaunchPlan::OrderAll(int signal, std::string_view why) {
  for (Rank rank = 0; rank < static_cast<Rank>(children_.size()); ++rank) {
    Give(rank, signal, why);
  }
}

void LaunchPlan::Give(Rank rank, int signal, std::string_view why) {
  Child& child = children_[static_cast<size_t>(rank)];
  if (child.ended || child.killed) return;
  child.signalled = true;
  child.killed = signal == SIGKILL;
  Order order{.rank = rank, .signal = signal};
  if (!why.empty()) {
    order.why = absl::StrCat("rank ", rank, " (", ProcessText(child.process, EndOf(rank, 0).host),
                             ") ", std::string(why), ", and is killed");
  }
  orders_.push_back(std::move(order));
}

}  // namespace grapevine
