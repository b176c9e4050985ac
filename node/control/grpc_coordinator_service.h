// The coordinator as a gRPC service, on the server of rank 0, or of the node that has its role.
//
// Turns streams into sessions and a timer into ticks; coordinator.h judges them. While a node's
// connection is broken, its port is watched (port_watch.h). Memory is bounded: by
// kMaxUnauthenticated streams, and one for each rank, of callers that have yet to register
// (UnprovenCallers), and as many of hosts of the run; by reports of kMaxReport bytes and a little
// for each rank; by kMaxQueued directives that wait for a stream. A stream ends with its first
// refusal.
//
// Thread-safety: all methods may be called from any thread. Lifetime: outlives the server;
// destroyed after the server's Shutdown.
#ifndef GRAPEVINE_NODE_CONTROL_GRPC_COORDINATOR_SERVICE_H_
#define GRAPEVINE_NODE_CONTROL_GRPC_COORDINATOR_SERVICE_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "node/control/control.pb.h"
#include "node/control/coordinator.h"
#include "node/control/grpc_control.grpc.pb.h"
#include "node/control/members.h"
#include "node/control/port_watch.h"
#include "node/identity/authentication.h"
#include "node/server/unproven_callers.h"
#include "run/records/run_standing.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcCoordinatorService final : public control::Control::CallbackService {
 public:
  // Called under the service's lock: they must not block, nor call the service.
  struct Sinks {
    std::function<void(Rank, const control::NodeMetrics&)> on_metrics;
    std::function<void(const std::string&)> on_notice;  // a line for rank 0's log
    // Every node is done: write the results, then call Finish.
    std::function<void()> on_all_done = [] {};
    std::function<void(Rank, const control::SavedPart&)> on_part = {};  // empty: not awaited
    // All nodes have joined, but none has been told. Does what must be done before. Unlike the
    // others, it may take a moment. An error ends the run.
    std::function<absl::Status()> on_gathered = [] { return absl::OkStatus(); };
    std::function<void(Rank)> on_lost = [](Rank) {};  // the run goes on without it
    // The run goes on with another process in the place of a lost rank, after this round.
    std::function<void(Rank, Round)> on_newcomer = [](Rank, Round) {};
    // All nodes are told to save after this round. Called before any on_part of the round.
    std::function<void(Round)> on_called = [](Round) {};
    // Returns whether this node has its role for certain at this moment (Coordinator::OnTenure).
    std::function<bool()> is_certain = [] { return true; };
    // Called about once a second while the run goes on; empty: no standing is wanted.
    std::function<void(const RunStanding&)> on_standing = {};
  };

  // A caller that does not show `token` is refused without a word about the run. A caller that
  // shows it is proven, whatever `options` say. A caller whose certificate names another rank is
  // refused, too.
  GrpcCoordinatorService(CoordinatorOptions options, Sinks sinks, RunToken token = {},
                         RankNames names = {});
  ~GrpcCoordinatorService() override;

  // Reports that this node has just got its role for certain: everything that has waited for this
  // goes on.
  void OnCertain();
  // Moves the end of the run; see Coordinator::ExtendRoundLimit.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

  // Call the methods of Coordinator with the same names.
  void OnCheckpoint(Round round);
  void Finish();
  void End(const absl::Status& why);
  void CannotBegin(const absl::Status& why);

  // Waits, once the run has ended, until every node has been told and has left, lest the exit of
  // rank 0 be taken for a death. If the run could not begin, waits also for nodes that have yet to
  // come. Returns false if some node has not left after the coordinator's Patience.
  bool AwaitDeparture();

  // Returns why the run was aborted; OK if it was not.
  absl::Status verdict() const;
  // Returns how the run has ended for all nodes; nothing if it has not, or if only the
  // coordinator's own node has gone.
  std::optional<absl::Status> Ended() const;

  // Takes a stream that another service has accepted (grpc_control_door.h).
  grpc::ServerBidiReactor<control::Report, control::Directive>* Admit(
      grpc::CallbackServerContext* context);

  static constexpr int kMaxUnauthenticated = 32;
  static constexpr size_t kMaxReport = 64 << 10;
  // The most directives that wait for a stream, more than a node that has come back is told at
  // once.
  static constexpr size_t kMaxQueued = 2 * Members::kMaxUnacknowledged;

 private:
  class Session;

  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext* context) override {
    return Admit(context);
  }
  // Ends the session, whose place another caller has taken.
  void Displace(Session& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Handles a report; returns false if the stream ends with it.
  bool OnReport(Session& session);
  // Returns why a report is not even looked at; empty if it is.
  std::string Unheard(const Session& session) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadClosed(Session& session);
  void OnPortClosed(Rank rank);
  void OnDone(Session& session);
  void TickUntilStopped();
  void ShowStanding(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends connections that never register or do not leave when told.
  void CancelOverdue(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the coordinator, after it was told of its present tenure.
  Coordinator& Judge(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the coordinator's decisions. The run begins only once on_gathered has returned OK.
  Coordinator::Output Decided() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries out the coordinator's decisions.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllClosed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Sinks sinks_;
  const RunToken token_;
  const RankNames names_;
  const std::chrono::nanoseconds tick_;
  const size_t max_report_;
  mutable Mutex mutex_;
  Condition changed_;
  UnprovenCallers unproven_ ABSL_GUARDED_BY(mutex_);  // by session number
  Coordinator coordinator_ ABSL_GUARDED_BY(mutex_);
  std::map<SessionId, Session*> sessions_ ABSL_GUARDED_BY(mutex_);  // each deletes itself
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;  // whether on_gathered was called
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime next_standing_ ABSL_GUARDED_BY(mutex_);
  PortWatch watch_;  // watches nodes whose connections are broken
  std::thread ticker_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_GRPC_COORDINATOR_SERVICE_H_
