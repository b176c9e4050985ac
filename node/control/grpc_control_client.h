// A node's control connection to the run's coordinator, rank 0's at first. Every rank has one, rank
// 0 too, over its server's in-process channel.
//
// It registers, sends heartbeats, and turns directives into callbacks. control_line.h says
// what directives mean, and what their absence means. A connection that breaks once the run has
// begun is made anew, over a channel of its own, while rank 0's port is watched (port_watch.h); who
// sends reports notices nothing of it, as long as no more than kMaxQueued wait.
//
// Thread-safety: all methods from any thread; Join, then Start, once each. Callbacks and the
// snapshot come one at a time from the client's own thread and must return at once, since
// heartbeats wait behind them; they may call Send.
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
    // A nominal round is to be measured; never after the limit that is final.
    std::function<void(Round round)> on_cut;
    // All nodes' parts of this checkpoint are there.
    std::function<void(Round round)> on_checkpoint = [](Round) {};
    // What is to be done about members that are lost, or about a checkpoint: kPrepare, kView or
    // kCheckpointAt.
    std::function<void(const control::Directive& decree)> on_decree = [](const auto&) {};
    // Where the role may move: the coordinator is lost (ControlLine::orphaned, gone), each time
    // once.
    // Adopt, EndAsFound or End is to follow.
    std::function<void(const absl::Status& why, bool gone)> on_orphaned = [](const auto&, bool) {};
    // The run has failed, or rank 0 is lost: the message for the user, with its
    // Failure. At most one of on_abort and on_finish, once, last.
    std::function<void(const absl::Status& verdict)> on_abort;
    // Every node is done: servers may go down.
    std::function<void()> on_finish;
  };
  // What the node is doing now.
  using Snapshot = std::function<control::Heartbeat()>;

  // Makes a channel to the coordinator; null: there is none to be had. From any thread.
  using Dial = std::function<std::shared_ptr<grpc::Channel>()>;

  // `token`: shown with every registration. Without `dial` a connection that breaks is not made
  // again.
  GrpcControlClient(std::shared_ptr<grpc::Channel> channel, ControlLineOptions options,
                    RunToken token = {}, Dial dial = {});
  // Leaves: waits a moment for rank 0 to know, then breaks the connection.
  ~GrpcControlClient();

  // Registers, with a proof of its own, and waits for the roster. Rank 0 may come up, and its name
  // may begin to resolve, until `deadline`; once it has answered, it decides how long to wait for
  // the others. kRendezvous names the obstacle.
  absl::StatusOr<control::Roster> Join(const control::Registration& registration,
                                       SteadyTime deadline);

  // Makes the current or a later Join return `why`, and tells rank 0, for which this node may
  // already be in the run.
  void Cancel(control::Failure why);

  // After Join: delivers what has come since; heartbeats carry `snapshot` from now on.
  void Start(Callbacks callbacks, Snapshot snapshot);

  // Queues a report; never blocks. ResourceExhausted when kMaxQueued and kReserve more wait to be
  // known to rank 0, the verdict, which may be OK, when the run is over: nobody needs it then.
  absl::Status Send(control::Report report);
  // The same, but waits until `deadline` for room among kMaxQueued.
  absl::Status SendBefore(SteadyTime deadline, control::Report report);

  // Says where this node stands, as soon as the queue has room; what was said before and has not
  // left is then of no use any more. Never blocks.
  void SetSteps(control::Steps steps);

  // Reports that this node cannot go on, and waits for rank 0's verdict, which
  // may know the cause behind the symptom; `failure` itself when none comes.
  // The node's server stays up meanwhile, so that peers do not mistake the
  // reaction for the cause. Not from a callback.
  absl::Status AwaitVerdict(control::Failure failure, SteadyTime deadline);
  // ControlLine::others_go_on.
  bool OthersGoOn();
  // ControlLine::lately.
  MembersLately Lately();

  // After on_orphaned: another has the role, at this address, and Dial makes a channel there; or
  // the run has ended so (ControlLine::EndAsFound); or nobody has it, and the run ends for this
  // node.
  void Adopt(Rank holder, const std::string& address);
  void EndAsFound(const absl::Status& how);
  void End(const absl::Status& why);

  static constexpr size_t kMaxQueued = 1024;
  // For what cannot wait, however much is to be measured.
  static constexpr size_t kReserve = 1024;

 private:
  class Stream;

  // Begins a connection.
  void Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long until the next one may begin; for ever, where the one before, to a coordinator that is
  // lost, has not ended.
  std::chrono::nanoseconds UntilConnect() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Once joined: begins the next one, if that is due.
  void Reconnect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnPortClosed(Rank rank);
  absl::Status Enqueue(control::Report report, size_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Full(size_t most) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One connection attempt: returns once the roster is there, the run is over, or the stream has
  // ended, then with its status; a stream that does not end is given up.
  grpc::Status Attempt(SteadyTime deadline);
  void AwaitAnswer(SteadyTime deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status NotReached(const std::string& last_error) const;
  absl::Status NotBelieved() const;
  // Leaves; returns the stream if that has not ended in time, which happens when gRPC has no thread
  // left for it.
  Stream* TakeUnended();
  bool AwaitDone(SteadyTime deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDirective(const control::Directive& directive) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnStreamDone(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves once the run is over; wakes whoever waits for a change.
  void OnChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pulse();
  void Beat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendSteps() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs one callback that is due; false when none is.
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
  Snapshot snapshot_;    // likewise
  PortWatch watch_;      // of rank 0's, while the connection is broken
  std::thread pulser_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_CLIENT_H_
