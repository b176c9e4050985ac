// A launcher's decisions: which ranks it starts and signals, when the launch is over, and how it
// has ended.
//
// A state machine without I/O: events go in with their times, orders come out. Once anything fails,
// ends or is told to end, the launch is over within the bounds of the options, whatever its
// children do.
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
  bool signalled;         // the launcher had told it to end
  bool joined = false;    // it had been started in the place of another
  std::string host = {};  // where it ran; empty: on this machine
  std::string lost = {};  // why nobody knows how it ended: its host cannot be reached
};

// OK when all ended with 0; kInterrupted or kTerminated when they did not and the user's signal (0:
// none) came before. Otherwise names the cause: a child that was killed explains more than the
// others, which then lost it; among the rest, the first in order. An exit code that is not in the
// list of failures (a sanitizer's, another program's) is kOther.
absl::Status LaunchOutcome(std::span<const ChildEnd> ends, int interrupted_by);

// A child's failure by its exit code; kPeerLost where a signal ended it. kNone: it ended well.
Failure FailureOfEnd(const ChildEnd& end);

// The outcome of a launch that the user's signal ended; names those that had to be
// killed.
absl::Status Interrupted(std::span<const ChildEnd> ends, int signal);

struct LaunchPlanOptions {
  Rank nodes = 1;
  // By rank, where it runs; empty: all on this machine.
  std::vector<std::string> hosts = {};
  // How long rank 0 may take to say where it listens, which the others must know.
  std::chrono::milliseconds rendezvous_timeout{60000};
  // From the first success to SIGTERM for the rest: they have trained, and may still be writing.
  std::chrono::milliseconds finish_timeout = std::chrono::minutes(15);
  // From the first failure to SIGTERM for the rest: time to learn the verdict. And
  // from the user's signal to SIGKILL: time to end in order.
  std::chrono::milliseconds grace{10000};
  // Likewise from the user's SIGTERM, where the children save first; none: as long.
  std::optional<std::chrono::milliseconds> saving_grace;
  // A second SIGTERM to who saves first that comes sooner is the first one's echo: job managers
  // tell all processes of a job, and launchers among them pass it on.
  std::chrono::milliseconds echo{};
  // From that SIGTERM to SIGKILL.
  std::chrono::milliseconds kill_grace{2000};
  // How long those who are left in a run may all be stopped (SIGSTOP) once others have ended; a
  // time in which the launcher stands still itself, as when all are stopped with it, does not
  // count.
  std::chrono::milliseconds peer_timeout{30000};
  // The nodes go on without one that is lost: whether the launch has failed is rank 0's word, where
  // it is not a failure that befalls all (IsOfOneNode).
  bool survives = false;
  // They go on without rank 0, too: the launch has succeeded if any of them has.
  bool role_moves = false;
  // Another process is started in the place of one that is lost, so often in all and so much later.
  int max_restarts = 0;
  std::chrono::milliseconds restart_delay{1000};
};

class LaunchPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  // Send `signal` to a rank; `why` is for people, and empty where nothing is unusual.
  struct Order {
    Rank rank;
    int signal;
    std::string why = {};
  };

  LaunchPlan(const LaunchPlanOptions& options, Time now);

  // The rank to start now, if any; OnStarted must follow.
  std::optional<Rank> next() const;
  // It is being started; as which process may be known later.
  void OnStarted(pid_t process = 0);
  // The rank in whose place another process is to start now, if any; likewise.
  std::optional<Rank> next_restart(Time now) const;
  void OnRestarted(Rank rank, pid_t process = 0);
  void OnRunning(Rank rank, pid_t process);
  // It could not be started, which ends the launch.
  void OnNotStarted(Rank rank, const absl::Status& why, Time now);
  // Rank 0 said where it listens.
  void OnListening() { listening_ = true; }

  // The user told the launcher to end: SIGINT, SIGTERM or SIGHUP.
  void OnSignal(int signal, Time now);
  // The launcher itself failed: there is nothing to wait for.
  void OnFailure(absl::Status why, Time now);
  // Whether a signal (SIGSTOP) has stopped a child.
  void OnHeld(Rank rank, bool held, Time now);
  // A child asks to be stopped for so long (--chaos).
  void OnPause(Rank rank, std::chrono::nanoseconds duration, Time now);
  // A child is about to be killed at its own wish, and another to be started so much later
  // (--chaos).
  void OnReturn(Rank rank, std::chrono::nanoseconds delay);
  // A child has come into the run: it has begun, or was under way.
  void OnCameIn(Rank rank);
  // A child has ended with waitpid's status.
  void OnEnded(Rank rank, int wait_status, Time now);
  // Its host cannot be reached any more.
  void OnLost(Rank rank, std::string_view why, Time now);

  // What is due at `now`; each order once.
  std::vector<Order> Due(Time now);
  // When to call Due again if nothing happens before.
  Time deadline() const;

  bool interrupted() const { return interrupted_by_ != 0; }
  // No child is left, and none is yet to start.
  bool over() const;
  // Once over; see Launch.
  absl::Status Outcome() const;

 private:
  struct Child {
    pid_t process;
    bool ended = false;
    bool signalled = false;  // by the launcher
    bool killed = false;     // by it, too
    Time held_since = kNever;
    Time paused_until = kNever;                             // at its own wish
    std::optional<std::chrono::milliseconds> returns = {};  // likewise, once it has been killed
    std::optional<std::chrono::milliseconds> again = {};    // of one that has come for that
    bool joined = false;                                    // in the place of another
    bool in = false;                                        // the run
    Time restart_at = kNever;                               // of one that has ended
  };

  bool ending() const { return failed_ || interrupted(); }
  // From the user's signal to SIGKILL.
  std::chrono::milliseconds SignalGrace() const;
  // Whether the user's signal, which is not the first, says nothing new.
  bool Echoes(int signal, Time now) const;
  ChildEnd EndOf(Rank rank, int wait_status) const;
  void OnEnd(ChildEnd end, Time now);
  // Another process is to take the place of this child, which is lost.
  void PlanRestart(Child& child, Time now);
  bool restarts() const { return !ending() && finished_ == kNever; }
  // Whether the others may go on without this child, which has not ended well: not before the run
  // has begun, for which they would wait.
  bool Survives(const ChildEnd& end) const;
  // Nobody is left in the run whom those who are still to come in would find.
  bool deserted() const;
  // This child may still go on with the run.
  bool IsLeft(const Child& child) const { return !child.ended && (child.in || !child.joined); }
  // Those who are left are all stopped, and have been while others ended: no node is there to miss
  // them, nor to be missed, and none goes on by itself within --peer-timeout of the last end, as
  // --chaos may say. Where none has ended since, somebody has stopped all at once, and lets
  // them go on; unless it is the last one.
  bool stranded() const;
  absl::Status Stranded(Time now) const;
  bool awaiting_port() const { return !listening_ && !ending() && options_.nodes > 1; }
  // When the remaining children get SIGTERM although nothing failed.
  Time FinishDeadline() const;
  // When a stopped child is killed, once any has ended well or the launch has failed.
  Time HeldUntil(const Child& child) const;
  // When one that was to come in is told to end: the run is over, and it may have come too late.
  Time AwaitedUntil(const Child& child) const;
  // The remaining children get SIGTERM at that time, unless it is due earlier.
  void BeginEnd(Time terminate_at);
  // `why` follows the rank's name.
  void Give(Rank rank, int signal, std::string_view why = {});
  void OrderAll(int signal, std::string_view why = {});

  const LaunchPlanOptions options_;
  std::vector<Child> children_;  // by rank
  std::vector<ChildEnd> ends_;   // in the order in which they came
  std::vector<Order> orders_;
  absl::Status own_failure_;
  int restarted_ = 0;  // that were not at the child's own wish
  bool listening_ = false;
  bool begun_ = false;   // the run
  bool failed_ = false;  // a child or the launcher
  int interrupted_by_ = 0;
  Time interrupted_at_ = kNever;
  Time finished_ = kNever;       // the first good end
  Time last_end_ = Time::min();  // of any
  WitnessedTime stranded_;
  Time port_deadline_, terminate_at_ = kNever, kill_at_ = kNever;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCH_PLAN_H_
