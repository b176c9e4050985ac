// A node's control connection to the run's coordinator, at first that of rank 0. Every rank has
// one, including rank 0, over the in-process channel of its server.
//
// The client registers, sends heartbeats, and turns directives into callbacks. control_line.h says
// what directives mean, and what their absence means. A connection that breaks once the run has
// begun is made anew, over a channel of its own, while rank 0's port is watched (port_watch.h).
// Senders of reports notice nothing of this, as long as no more than kMaxQueued reports wait.
//
// Thread-safety: all methods may be called from any thread; Join, then Start, once each. The
// client's own thread calls the callbacks and the snapshot, one at a time. They must return at
// once, since heartbeats wait behind them; they may call Send.
#ifndef GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_CLIENT_H_
#define GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_CLIENT_H_

#include <grpcpp/channel.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/membership/members_lately.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/control_line.h"
#include "node/control/grpc_control.grpc.pb.h"
#include "node/control/port_watch.h"
#include "node/identity/authentication.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcControlClient {
 public:
  struct Callbacks {
    std::function<void(const control::RoundLimit& moved)> on_round_limit;
    // A nominal round is to be measured. Never called after the final limit.
    std::function<void(Round round)> on_cut;
    // The parts of all nodes of this checkpoint exist.
    std::function<void(Round round)> on_checkpoint = [](Round) {};
    // A directive about lost members, about a checkpoint or about coasting: kPrepare, kView,
    // kCheckpointAt or kCoast.
    std::function<void(const control::Directive& decree)> on_decree = [](const auto&) {};
    // The coordinator is lost (ControlLine::orphaned, gone), in a run whose role may move. Called
    // once for each loss. The receiver must then call Adopt, EndAsFound or End.
    std::function<void(const absl::Status& why, bool gone)> on_orphaned = [](const auto&, bool) {};
    // The run has failed, or rank 0 is lost; `verdict` is the message for the user, with its
    // Failure. Of on_abort and on_finish, at most one is called, once, as the last callback.
    std::function<void(const absl::Status& verdict)> on_abort;
    // Every node is done, so that servers may shut down.
    std::function<void()> on_finish;
  };
  // Returns what the node is doing now.
  using Snapshot = std::function<control::Heartbeat()>;

  // Makes a channel to the coordinator; null: no channel can be made. Called from any thread.
  using Dial = std::function<std::shared_ptr<grpc::Channel>()>;

  // `token` is shown with every registration. Without `dial`, a broken connection is not made
  // again.
  GrpcControlClient(std::shared_ptr<grpc::Channel> channel, ControlLineOptions options,
                    RunToken token = {}, Dial dial = {});
  // Leaves: waits a moment until rank 0 knows, then breaks the connection.
  ~GrpcControlClient();

  // Registers, with a proof for this call, and waits for the roster. Until `deadline`, rank 0 may
  // still come up, and its name may begin to resolve; once rank 0 has answered, it decides how long
  // to wait for the others. kRendezvous names the obstacle.
  absl::StatusOr<control::Roster> Join(const control::Registration& registration,
                                       SteadyTime deadline);

  // Makes the current or a later Join return `why`, and tells rank 0, for which this node may
  // already be in the run.
  void Cancel(control::Failure why);

  // Delivers, after Join, everything that has arrived since. From now on, heartbeats carry
  // `snapshot`.
  void Start(Callbacks callbacks, Snapshot snapshot);

  // Queues a report; never blocks. Returns ResourceExhausted if kMaxQueued + kReserve reports are
  // not known to have reached rank 0, and the verdict, which may be OK, if the run is over: no node
  // needs the report then.
  absl::Status Send(control::Report report);
  // Queues a report like Send, but waits until `deadline` for room among kMaxQueued.
  absl::Status SendBefore(SteadyTime deadline, control::Report report);

  // Reports this node's position as soon as the queue has room. Replaces an earlier position that
  // has not left yet. Never blocks.
  void SetSteps(control::Steps steps);

  // Reports that this node cannot go on, and waits for rank 0's verdict, which may know the cause
  // behind the symptom. Returns `failure` itself if no verdict comes. The node's server stays up
  // meanwhile, so that peers do not mistake the reaction for the cause. Must not be called from a
  // callback.
  absl::Status AwaitVerdict(control::Failure failure, SteadyTime deadline);
  // Returns ControlLine::others_go_on.
  bool OthersGoOn();
  // Returns ControlLine::lately.
  MembersLately Lately();

  // One of these follows on_orphaned. Adopt: another node has the role, at this address, and Dial
  // makes a channel to it. EndAsFound: the run has ended like this (ControlLine::EndAsFound). End:
  // no node has the role, and the run ends for this node.
  void Adopt(Rank holder, const std::string& address);
  void EndAsFound(const absl::Status& how);
  void End(const absl::Status& why);

  static constexpr size_t kMaxQueued = 1024;
  // Room for reports that cannot wait, however many measurements are queued.
  static constexpr size_t kReserve = 1024;

 private:
  class Stream;

  // Begins a connection.
  void Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the time until the next connection may begin; the maximum while the one before, to a
  // lost coordinator, has not ended, and if no connection is due.
  std::chrono::nanoseconds UntilConnect() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Begins the next connection of a node that has joined, if it is due.
  void Reconnect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnPortClosed(Rank rank);
  absl::Status Enqueue(control::Report report, size_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Full(size_t most) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes one attempt to connect. Returns once the roster has arrived, the run is over, or the
  // stream has ended, in which case it returns the stream's status; gives up a stream that does not
  // end.
  grpc::Status Attempt(SteadyTime deadline);
  void AwaitAnswer(SteadyTime deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status NotReached(const std::string& last_error) const;
  absl::Status NotBelieved() const;
  // Leaves. Returns the stream if it has not ended in time, which happens when gRPC has no thread
  // left for it.
  Stream* TakeUnended();
  bool AwaitDone(SteadyTime deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDirective(const control::Directive& directive) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnStreamDone(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves once the run is over; wakes all threads that wait for a change.
  void OnChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pulse();
  void Beat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendSteps() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs one callback that is due; returns false if none is.
  bool Deliver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string coordinator_;
  const RunToken token_;
  const Dial dial_;

  Mutex mutex_;
  Condition changed_;
  control::Registration registration_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);
  ControlLine line_ ABSL_GUARDED_BY(mutex_);
  std::optional<control::Steps> steps_ ABSL_GUARDED_BY(mutex_);  // to be sent
  bool verdict_delivered_ ABSL_GUARDED_BY(mutex_) = false;
  bool orphan_told_ ABSL_GUARDED_BY(mutex_) = false;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Callbacks callbacks_;  // constant once started_
  Snapshot snapshot_;    // constant once started_
  PortWatch watch_;      // watches rank 0's port while the connection is broken
  std::thread pulser_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_CLIENT_H_
