// LaunchPlan makes a launcher's decisions: which ranks it starts and signals, when the launch is
// over, and how it has ended.
//
// A LaunchPlan is a state machine without I/O: events go in with their times, orders come out. Once
// anything fails, ends or is told to end, the launch is over within the bounds of the options,
// whatever its children do.
//
// Thread-compatible; functions are pure.
#ifndef GRAPEVINE_NODE_LAUNCH_LAUNCH_PLAN_H_
#define GRAPEVINE_NODE_LAUNCH_LAUNCH_PLAN_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "base/status.h"
#include "node/launch/witnessed_time.h"

namespace grapevine {

struct ChildEnd {
  Rank rank;
  pid_t pid;
  int wait_status;        // waitpid's
  bool signalled;         // the launcher had told the child to end
  bool joined = false;    // the child had been started in the place of another
  std::string host = {};  // the host that it ran on; empty: this machine
  // Why it is not known how the child ended: its host cannot be reached. Empty if it is known.
  std::string lost = {};
};

// Returns the outcome of a launch: OK if all children ended with 0; kInterrupted or kTerminated if
// they did not and the user's signal (0: none) came before. Otherwise the error names the cause: a
// child that was killed explains more than the others, which then lost it; among the rest, the
// first in order. An exit code that is not in the list of failures (a sanitizer's, another
// program's) is kOther.
absl::Status LaunchOutcome(std::span<const ChildEnd> ends, int interrupted_by);

// Returns a child's failure by its exit code; kPeerLost if a signal ended the child or its host is
// lost, kNone if it ended well.
Failure FailureOfEnd(const ChildEnd& end);

// Returns the outcome of a launch that the user's signal ended; the message names the children that
// had to be killed.
absl::Status Interrupted(std::span<const ChildEnd> ends, int signal);

struct LaunchPlanOptions {
  Rank nodes = 1;
  // The host of each rank; empty: all ranks are on this machine.
  std::vector<std::string> hosts = {};
  // The time in which rank 0 must say where it listens, which the others must know.
  std::chrono::milliseconds rendezvous_timeout{60000};
  // The time from the first success to SIGTERM for the rest: they have trained, and may still be
  // writing.
  std::chrono::milliseconds finish_timeout = std::chrono::minutes(15);
  // The time from the first failure to SIGTERM for the rest, in which they learn the verdict; and
  // the time from the user's signal to SIGKILL, in which they end in order.
  std::chrono::milliseconds grace{10000};
  // The time from the user's SIGTERM to SIGKILL where the children save first; none: `grace`.
  std::optional<std::chrono::milliseconds> saving_grace;
  // The time within which a second SIGTERM is an echo of the first, where the children save first:
  // job managers tell all processes of a job, and launchers among them pass the signal on.
  std::chrono::milliseconds echo{};
  // The time from the launcher's SIGTERM to SIGKILL.
  std::chrono::milliseconds kill_grace{2000};
  // The longest time for which all nodes that are left in a run may be stopped (SIGSTOP) once
  // others have ended. Time in which the launcher itself stands still, as when all are stopped with
  // it, does not count.
  std::chrono::milliseconds peer_timeout{30000};
  // Whether the nodes go on without a lost one. Rank 0's outcome then decides whether the launch
  // has failed, unless a failure affects all nodes (IsOfOneNode).
  bool survives = false;
  // Whether the nodes go on without rank 0, too: the launch has succeeded if any node has.
  bool role_moves = false;
  // How often in all another process is started in the place of a lost one, and how much later.
  int max_restarts = 0;
  std::chrono::milliseconds restart_delay{1000};
};

class LaunchPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  // An order to send `signal` to a rank; `why` is for people, and empty if nothing is unusual.
  struct Order {
    Rank rank;
    int signal;
    std::string why = {};
  };

  LaunchPlan(const LaunchPlanOptions& options, Time now);

  // Returns the rank to start now, if any; OnStarted must follow.
  std::optional<Rank> next() const;
  // The rank of next() is being started; OnRunning may tell its process later.
  void OnStarted(pid_t process = 0);
  // Returns the rank in whose place another process is to start now, if any; OnRestarted must
  // follow.
  std::optional<Rank> next_restart(Time now) const;
  void OnRestarted(Rank rank, pid_t process = 0);
  void OnRunning(Rank rank, pid_t process);
  // The rank could not be started, which ends the launch.
  void OnNotStarted(Rank rank, const absl::Status& why, Time now);
  // Rank 0 said where it listens.
  void OnListening() { listening_ = true; }

  // The user told the launcher to end: SIGINT, SIGTERM or SIGHUP.
  void OnSignal(int signal, Time now);
  // The launcher itself failed: the children are told to end at once.
  void OnFailure(absl::Status why, Time now);
  // A signal (SIGSTOP) has stopped a child, or the child goes on.
  void OnHeld(Rank rank, bool held, Time now);
  // A child asks to be stopped for `duration` (--chaos).
  void OnPause(Rank rank, std::chrono::nanoseconds duration, Time now);
  // A child is about to be killed at its own wish, and another is to be started in its place after
  // `delay` (--chaos).
  void OnReturn(Rank rank, std::chrono::nanoseconds delay);
  // A child has come into the run, which has begun with it or was under way.
  void OnCameIn(Rank rank);
  // A child has ended, with waitpid's status.
  void OnEnded(Rank rank, int wait_status, Time now);
  // The host of a child cannot be reached any more.
  void OnLost(Rank rank, std::string_view why, Time now);

  // Returns the orders that are due at `now`, each once.
  std::vector<Order> Due(Time now);
  // Returns when to call Due again if nothing happens before.
  Time deadline() const;

  bool interrupted() const { return interrupted_by_ != 0; }
  // Returns whether no child is left, and none is yet to start.
  bool over() const;
  // Returns the outcome of the launch, as Launch does. Only valid once over().
  absl::Status Outcome() const;

 private:
  struct Child {
    pid_t process;
    bool ended = false;
    bool signalled = false;  // the launcher has sent a signal
    bool killed = false;     // the launcher has sent SIGKILL
    Time held_since = kNever;
    Time paused_until = kNever;  // the end of a pause that the child has asked for
    // The delay after which another child replaces this one, which is about to be killed at its own
    // wish.
    std::optional<std::chrono::milliseconds> returns = {};
    // The delay with which this child has replaced another after such a wish.
    std::optional<std::chrono::milliseconds> again = {};
    bool joined = false;       // the child was started in the place of another
    bool in = false;           // the child has come into the run
    Time restart_at = kNever;  // when another child replaces this one, which has ended
  };

  bool ending() const { return failed_ || interrupted(); }
  // Returns the time from the user's signal to SIGKILL.
  std::chrono::milliseconds SignalGrace() const;
  // Returns whether the user's signal, which is not the first, says nothing new.
  bool Echoes(int signal, Time now) const;
  ChildEnd EndOf(Rank rank, int wait_status) const;
  void OnEnd(ChildEnd end, Time now);
  // Plans another process in the place of this child, which is lost, if the options allow one.
  void PlanRestart(Child& child, Time now);
  bool restarts() const { return !ending() && finished_ == kNever; }
  // Returns whether the others may go on without this child, which has not ended well. Before the
  // run has begun they may not: they would wait for the child.
  bool Survives(const ChildEnd& end) const;
  // Returns whether no node is left in the run that nodes yet to come in would find.
  bool deserted() const;
  // Returns whether this child may still go on with the run.
  bool IsLeft(const Child& child) const { return !child.ended && (child.in || !child.joined); }
  // Returns whether all nodes that are left are stopped, and have been while others ended: no
  // running node could miss them or be missed, and none of them goes on by itself within
  // --peer-timeout of the last end, as --chaos may have it. If no node has ended since they
  // stopped, the user has stopped all at once and lets them go on, unless a single node is left.
  bool stranded() const;
  absl::Status Stranded(Time now) const;
  bool awaiting_port() const { return !listening_ && !ending() && options_.nodes > 1; }
  // Returns when the remaining children get SIGTERM although nothing failed.
  Time FinishDeadline() const;
  // Returns when a stopped child is killed, once any child has ended well or the launch has failed.
  Time HeldUntil(const Child& child) const;
  // Returns when a child that was to come in is told to end: the run is over, and the child may
  // have come too late.
  Time AwaitedUntil(const Child& child) const;
  // Makes the remaining children get SIGTERM at `terminate_at`, unless it is due earlier.
  void BeginEnd(Time terminate_at);
  // Orders `signal` for a rank that has not ended or been killed; `why` follows the rank's name.
  void Give(Rank rank, int signal, std::string_view why = {});
  void OrderAll(int signal, std::string_view why = {});

  const LaunchPlanOptions options_;
  std::vector<Child> children_;  // by rank
  std::vector<ChildEnd> ends_;   // in order of time
  std::vector<Order> orders_;
  absl::Status own_failure_;
  int restarted_ = 0;  // restarts that were not at the child's own wish
  bool listening_ = false;
  bool begun_ = false;   // the run has begun
  bool failed_ = false;  // a child or the launcher has failed
  int interrupted_by_ = 0;
  Time interrupted_at_ = kNever;
  Time finished_ = kNever;       // when the first child ended well
  Time last_end_ = Time::min();  // when the last child ended, well or not
  WitnessedTime stranded_;
  Time port_deadline_, terminate_at_ = kNever, kill_at_ = kNever;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCH_PLAN_H_
