// The coordinator as a gRPC service, on the server of rank 0, or of whoever has its role.
//
// Turns streams into sessions and a timer into ticks; coordinator.h judges them. While a node's
// connection is broken, its port is watched (port_watch.h). Memory is bounded:
// at most kMaxUnauthenticated streams, and one for each rank, of callers that have yet to register
// (UnprovenCallers), and as many of hosts of the run; reports of kMaxReport bytes and a little for
// each rank, at most kMaxQueued directives waiting for one. A stream ends with its first refusal.
//
// Thread-safety: all methods from any thread. Lifetime: outlives the server;
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
#include "node/control/port_watch.h"
#include "node/identity/authentication.h"
#include "node/server/unproven_callers.h"
#include "run/records/run_standing.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcCoordinatorService final : public control::Control::CallbackService {
 public:
  // Called under the service's lock: must not block nor call the service.
  struct Sinks {
    std::function<void(Rank, const control::NodeMetrics&)> on_metrics;
    std::function<void(const std::string&)> on_notice;  // a line for rank 0's log
    // Every node is done: the results may be written, then Finish.
    std::function<void()> on_all_done = [] {};
    std::function<void(Rank, const control::SavedPart&)> on_part = {};  // empty: not awaited
    // All nodes are there, and none has heard so: what is to be done before. The exception: it may
    // take a moment. An error ends the run.
    std::function<absl::Status()> on_gathered = [] { return absl::OkStatus(); };
    std::function<void(Rank)> on_lost = [](Rank) {};  // the run goes on without it
    // And with another process in its place, after that round.
    std::function<void(Rank, Round)> on_newcomer = [](Rank, Round) {};
    // All nodes are told to save what they have after this round. Before any on_part of it.
    std::function<void(Round)> on_called = [](Round) {};
    // Whether this node has its role for certain at this moment (Coordinator::OnTenure).
    std::function<bool()> is_certain = [] { return true; };
    // About once a second while the run goes on; empty: nobody looks.
    std::function<void(const RunStanding&)> on_standing = {};
  };

  // A caller that does not show `token` is refused without a word about the run; one that does is
  // proven, whatever `options` say. Nor is one heard whose certificate names another rank.
  GrpcCoordinatorService(CoordinatorOptions options, Sinks sinks, RunToken token = {},
                         RankNames names = {});
  ~GrpcCoordinatorService() override;

  // This node has just got its role for certain: what has waited for that goes on.
  void OnCertain();
  // Moves the end of the run; see Coordinator.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

  // See Coordinator.
  void OnCheckpoint(Round round);
  void Finish();
  void End(const absl::Status& why);
  void CannotBegin(const absl::Status& why);

  // Once the run has ended: waits until every node has heard so and left, lest rank 0's own exit be
  // taken for a death; if the run could not begin, also for nodes that have yet to come. False if
  // some node has not left after the coordinator's Patience.
  bool AwaitDeparture();

  // Why the run was aborted; OK while it was not.
  absl::Status verdict() const;
  // How the run has ended for all; none: it has not, or this coordinator's node alone has gone.
  std::optional<absl::Status> Ended() const;

  // A stream that another service has accepted (grpc_control_door.h).
  grpc::ServerBidiReactor<control::Report, control::Directive>* Admit(
      grpc::CallbackServerContext* context);

  static constexpr int kMaxUnauthenticated = 32;
  static constexpr size_t kMaxReport = 64 << 10;
  // More than a node that has come back is told at once.
  static constexpr size_t kMaxQueued = 2 * Coordinator::kMaxUnacknowledged;

 private:
  class Session;

  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext* context) override {
    return Admit(context);
  }
  // Another caller has its place.
  void Displace(Session& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False when the stream ends with that report.
  bool OnReport(Session& session);
  // Why a report is not even looked at; empty when it is.
  std::string Unheard(const Session& session) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadClosed(Session& session);
  void OnPortClosed(Rank rank);
  void OnDone(Session& session);
  void TickUntilStopped();
  void ShowStanding(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends connections that never register or do not leave when told.
  void CancelOverdue(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The coordinator, which knows of its tenure as it is now.
  Coordinator& Judge(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the coordinator decided; the run begins once on_gathered says so.
  Coordinator::Output Decided() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries that out.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllClosed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Sinks sinks_;
  const RunToken token_;
  const RankNames names_;
  const std::chrono::nanoseconds tick_;
  const size_t max_report_;
  mutable Mutex mutex_;
  Condition changed_;
  UnprovenCallers unproven_ ABSL_GUARDED_BY(mutex_);  // by the numbers of their sessions
  Coordinator coordinator_ ABSL_GUARDED_BY(mutex_);
  std::map<SessionId, Session*> sessions_ ABSL_GUARDED_BY(mutex_);  // each deletes itself
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;                      // on_gathered has been asked
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyTime next_standing_ ABSL_GUARDED_BY(mutex_);
  PortWatch watch_;  // of nodes whose connections are broken
  std::thread ticker_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_GRPC_COORDINATOR_SERVICE_H_
