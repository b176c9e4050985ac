// One node's life in a run: it listens, joins, trains, and ends with all the others.
//
// Composes the parts of this folder and knows nothing about configurations, models or files: the
// training comes in as a runner, measurements go out through callbacks.
#ifndef GRAPEVINE_NODE_NODE_SESSION_H_
#define GRAPEVINE_NODE_NODE_SESSION_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/vector/shared_vector.h"
#include "node/control/control.pb.h"
#include "node/control/grpc_control_client.h"
#include "node/control/grpc_control_door.h"
#include "node/control/grpc_coordinator_service.h"
#include "node/control/node_metrics.h"
#include "node/discovery/discovery.h"
#include "node/discovery/moving_role.h"
#include "node/identity/authentication.h"
#include "node/identity/host_address.h"
#include "node/runner/runner.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_server.h"
#include "node/transport/grpc/grpc_transport.h"
#include "run/records/run_standing.h"

namespace grapevine {

struct NodeSessionOptions {
  Rank rank = 0;
  Rank size = 1;
  std::string run_id;       // rank 0's; the others learn it
  HostAddress coordinator;  // where to find rank 0, unless `discovery` does
  // How rank 0 is found; null: its address is known.
  std::shared_ptr<Discovery> discovery = nullptr;
  // Where rank 0's role is kept, which another node takes over when rank 0 is lost
  // (Discovery::moving_role); null: it does not move. Where `discovery` does, the same. Needs
  // `resilient`, and neither checkpoints nor a budget.
  std::shared_ptr<Discovery> role = nullptr;
  HostAddress bind{"127.0.0.1", 0};
  HostAddress advertise;  // empty parts are taken from the bound address
  GrpcCredentials credentials;
  RunToken token;  // shared by all ranks
  // Version and revision, the same on all ranks.
  std::string build;
  // The settings that all ranks must agree on, the most telling first.
  std::vector<control::Agreement> agreements;
  std::string schema;    // fingerprint of the replica's layout
  std::string topology;  // canonical names, for the handshake of edges
  std::string algorithm;
  Round rounds = 0;
  Round first_limit = 0;    // rank 0's: the end as known so far (RunnerOptions::limit)
  bool open_ended = false;  // programs say when it ends (node/control/closing.h)
  // The largest batch, in those of round 0, where batches grow at plateaus; else 0.
  int64_t largest_growth = 0;
  // If the run goes on: this node's own parts of checkpoints; and on rank 0 from where.
  std::vector<control::SavedPart> parts;
  std::optional<control::Resumed> resumed;
  // Whether the others go on when a node is lost, and the end of the run is not settled before rank
  // 0 has its last evaluation (ExtendRoundLimit).
  bool resilient = false;
  // That go on (CoordinatorOptions::min_nodes); fewer end,
  std::optional<Rank> min_nodes;
  bool waits = false;    // or wait for others to come in, for rendezvous_timeout
  Rank begin_nodes = 0;  // as many may begin, once that is over; 0: all must be there
  // This node may come into a run that is under way.
  bool joins = false;
  bool settles_last = false;
  // If the run keeps checkpoints; when it calls for them is rank 0's.
  std::optional<CheckpointCallsOptions> checkpoints;
  // Likewise, if nodes share a budget.
  std::optional<RenewalsOptions> renewals;
  // The ranks from here on are servers; 0: there are none.
  Rank workers = 0;
  // If nodes share a budget of gradients, of so many rounds for each worker.
  std::optional<BudgetDeskOptions> budget;
  std::chrono::milliseconds rendezvous_timeout{60000};
  std::chrono::milliseconds peer_timeout{30000};
  std::chrono::milliseconds min_peer_timeout{30000};
  std::chrono::milliseconds step_timeout = std::chrono::minutes(15);
  // What goes wrong with its edges on purpose; null: nothing.
  std::shared_ptr<EdgeFaults> faults = nullptr;
};

// Rank 0 does, but one that comes later.
inline bool Begins(const NodeSessionOptions& options) {
  return options.rank == 0 && !options.joins;
}

struct NodeSessionCallbacks {
  // The server listens at this address: local launchers hand rank 0's port to the others.
  std::function<absl::Status(const HostAddress&)> on_listening;
  // Rank 0: it is announced, where it is to be, so that nobody else begins this run; nobody has
  // been told yet that it can. May take a moment.
  std::function<absl::Status()> on_announced = [] { return absl::OkStatus(); };
  // Rank 0: what the nodes report, and lines for its log.
  std::function<void(Rank, const control::NodeMetrics&)> on_metrics;
  std::function<void(const std::string&)> on_notice;
  // Before a node hears of a limit: its rounds below it are settled. In those that were not, the
  // batch is `growth` times that of round 0, where batches grow at plateaus. From any thread; may
  // be empty.
  std::function<void(Round limit, int64_t growth)> on_settled = {};
  // In an open-ended run: the rounds below need no gradients any more of a program that has given
  // its last; `all`: it is to give no more than one. The limit has been told before.
  std::function<void(Round below, bool all)> on_coast = {};
  // On rank 0: all nodes save after this round. Before on_part of any.
  std::function<void(Round)> on_called = [](Round) {};
  // On rank 0: a node has saved its part of a checkpoint.
  std::function<void(Rank, const control::SavedPart&)> on_part = {};
  // On rank 0: the run goes on without this node.
  std::function<void(Rank)> on_lost = [](Rank) {};
  // Likewise: with another process in its place, after this round.
  std::function<void(Rank, Round)> on_newcomer = [](Rank, Round) {};
  // Likewise, about once a second: where the nodes are. Must not wait; may be empty.
  std::function<void(const RunStanding&)> on_standing = {};
  // This node comes into a run that is under way; before on_start. `views`: all of `joined`'s, the
  // one with which it comes in is the last.
  std::function<void(const std::vector<View>& views, const control::Joined& joined)> on_joined = {};
  // All nodes have theirs. From the client's thread: must not wait.
  std::function<void(Round)> on_checkpoint = [](Round) {};
  // On rank 0: all nodes are there, and none has heard so. From any thread; may take a moment.
  std::function<absl::Status()> on_gathered = [] { return absl::OkStatus(); };
  // All nodes have joined, and the run goes on from there; before on_start.
  std::function<absl::Status(const control::Resumed&)> on_resumed = {};
  // This node is to have rank 0's role from now on, which somebody else had; on_metrics and the
  // like follow. An error: it cannot. From a thread of its own; may take a moment.
  std::function<absl::Status()> on_role = [] { return absl::OkStatus(); };
  // Where this node has the role of another that is lost: averaged models come from this round on,
  // and that of no round before. Before the runner hears of the view; must not wait.
  std::function<void(Round)> on_evaluations_from = [](Round) {};
  // All nodes have joined; training begins.
  std::function<absl::Status()> on_start;
  // This node has trained: evaluate and write, before it reports that it is done.
  std::function<absl::Status(const SharedVector& model)> on_trained;
  // Rank 0: all nodes are done; write the run's results, before the end is announced.
  std::function<absl::Status()> on_all_done;
};

// Run is called by one thread; everything else may be called from any.
class NodeSession {
 public:
  // `runner` outlives the session.
  NodeSession(NodeSessionOptions options, NodeSessionCallbacks callbacks, Runner* runner);
  ~NodeSession();

  // Listens, joins, trains from the replica that `initialize` writes, and waits
  // until every node is done.
  // The error of a failed run names the culprit, even if that is another node.
  absl::Status Run(std::function<absl::Status(float* replica)> initialize);
  // Once Run has failed: whether that is of this node alone, and the others have said that they go
  // on without it.
  bool others_go_on() const { return others_go_on_; }

  // Makes Run return `why` (an interrupt, a full disk), and tells the others.
  void Interrupt(absl::Status why);
  // The same once all nodes have a checkpoint; at once if the run keeps none or has not begun.
  void EndWithCheckpoint(absl::Status why);
  // By neighbour to which this node sends: whether they are connected. From any thread; empty
  // before the node listens and once the run is over.
  std::map<Rank, bool> Connected();
  // To be called between the batches of an evaluation, so that heartbeats show progress. Returns
  // the error if the run has failed meanwhile: the evaluation must end too.
  absl::Status OnEvaluatedBatch();
  // Reports to rank 0 what was measured since the last report (node_metrics.h). Never waits; from
  // any thread, also one that outlives Run: nobody hears it then. Not beside ReportAtRest.
  void Report(control::NodeMetrics metrics);
  // From the runner, where nodes share a budget of gradients: tells rank 0.
  void ReportSteps(const StepsReport& steps);
  // Where nodes go on without those that are lost: tells rank 0. Never waits; from any thread, also
  // one that outlives Run (the watch over the disk does).
  void ReportLoss(Rank peer, const absl::Status& why);
  void ReportPromise(uint32_t ballot, Round round);
  // In an open-ended run: this node's program has given so many gradients, its last; `all`: the
  // others are to do so too. Never waits; from any thread, also one that outlives Run.
  void ReportSpent(Round gradients, bool all);
  // This node's part of a checkpoint is on its disk. Never waits; from any thread, also one that
  // outlives Run: an error if rank 0 cannot be told.
  absl::Status ReportPart(control::SavedPart part);
  // Rank 0: a checkpoint is complete.
  void OnCheckpoint(Round round) { coordinator_->OnCheckpoint(round); }
  // Once the node has trained: reports on its own model, waiting for room in the queue if it must.
  absl::Status ReportAtRest(control::NodeMetrics metrics);
  // Rank 0: moves the end of the run; a final limit settles it. `growth` is on_settled's; 0 where
  // no batch grows at plateaus.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

 private:
  absl::Status Listen();
  // Rank 0 lets itself be found.
  absl::Status Announce();
  // And has what it needs to begin; whoever is there already hears why it has not.
  absl::Status PrepareToBegin();
  absl::Status Join();
  // The others find it.
  absl::StatusOr<FoundCoordinator> FindCoordinator();
  // Who comes into a run whose role moves looks again where the role is if nobody answers.
  absl::StatusOr<control::Roster> JoinWhereTheRoleIs();
  // Asks there, until then if nobody answers.
  absl::StatusOr<control::Roster> AskToJoin(const FoundCoordinator& found,
                                            std::chrono::steady_clock::time_point deadline);
  absl::StatusOr<control::Roster> AwaitRoster(std::chrono::steady_clock::time_point deadline);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> ControlChannel();
  // None at rank 0, whose connection is in process.
  GrpcControlClient::Dial Redial();
  control::Registration Registration() const;
  control::Heartbeat Heartbeat() const;
  void StartControl();
  // What the run had settled before it goes on.
  void Settle(const control::Resumed& resumed);
  // The run is under way.
  void ComeIn(const control::Joined& joined);
  // Other processes are in the place of members that were left out.
  void Expect(const control::View& view);
  void SetLimit(Round limit, bool final, int64_t growth);
  // Why the run has ended for this node; OK while it has not, or if it ended well.
  absl::Status Ended();
  void OnDecree(const control::Directive& decree);
  // Where it cannot be told although the run goes on, the run ends: the others would wait for it.
  // From any thread, also one that outlives Run. Never waits.
  absl::Status TellAtOnce(control::Report report);
  // The run has ended for this node; the first call counts.
  void End(const absl::Status& how);
  // Tells rank 0, if the run goes on; the caller sees to what cannot be told. From any thread, also
  // one that outlives Run. Never waits.
  absl::Status TellIfItRuns(control::Report report);
  absl::Status Tell(control::Report last);
  absl::Status SayDone();
  // Whoever has the role: once all are done, writes the results and announces the end.
  absl::Status Conclude();
  // Until this node has its role for certain: no more than rendezvous_timeout, nor once the run has
  // ended otherwise.
  absl::Status AwaitTenure();
  absl::Status AwaitEnd();
  CoordinatorOptions Coordination(std::optional<SuccessionOptions> succession) const;
  std::unique_ptr<GrpcCoordinatorService> MakeCoordinator(
      std::optional<SuccessionOptions> succession);

  // Where the role moves, on a thread of its own: sees to it that this node has a coordinator.
  void SeekCoordinators();
  struct LostCoordinator {
    absl::Status why;
    bool gone;  // ControlLine::gone
  };
  std::optional<LostCoordinator> AwaitLoss();
  void SeekCoordinator(const LostCoordinator& coordinator);
  void GoOnWith(const MovingRole::Holder& holder, const absl::Status& lost);
  // Its own, if it has taken the role.
  absl::Status TakeRole();
  void StopSeeking();
  MovingRole* role() const;
  // Where rank 0 is announced; null: nowhere.
  Discovery* Place() const;
  // By which it acts for the run; null: by none.
  RoleLease* lease() const;
  // Who had the role last, as far as this node knows.
  Rank Holder() const;
  // Whether this node begins the run, as its first coordinator.
  bool begins() const { return Begins(options_); }
  const std::string& RunId() const { return begins() ? options_.run_id : run_id_; }
  void OnAllDone();
  // What ended the run for this node: `symptom` may be only a consequence.
  absl::Status Cause(const absl::Status& symptom);
  // Asks rank 0 whether something else is behind `symptom`.
  absl::Status Verdict(const absl::Status& symptom);
  void TearDown();

  const NodeSessionOptions options_;
  const NodeSessionCallbacks callbacks_;
  Runner* const runner_;
  const uint64_t process_;  // tells it from another one with its rank

  HostAddress advertised_;
  std::string run_id_;                           // once it has joined
  std::chrono::steady_clock::time_point began_;  // the run, not this process
  std::chrono::steady_clock::time_point rendezvous_deadline_;
  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<GrpcCoordinatorService> coordinator_;  // where this node has the role
  std::unique_ptr<GrpcControlDoor> door_;                // where it may have it later
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GrpcControlClient> control_;
  std::optional<control::Resumed> resumed_;  // once it has joined
  // Of a run that goes on from a checkpoint, what whoever comes into it is to know.
  std::optional<control::Resumed> inherited_;
  MetricsReporter reporter_;

  std::atomic<bool> trained_ = false;
  std::atomic<int64_t> evaluated_batches_ = 0;

  Mutex mutex_;
  Condition ended_;
  bool all_done_ ABSL_GUARDED_BY(mutex_) = false;  // rank 0
  bool joining_ ABSL_GUARDED_BY(mutex_) = false;   // control_ exists, and waits for the others
  GrpcControlClient* told_ ABSL_GUARDED_BY(mutex_) = nullptr;  // control_, while parts are reported
  GrpcTransport* shown_ ABSL_GUARDED_BY(mutex_) = nullptr;     // transport_, while it is there
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  std::optional<LostCoordinator> orphaned_ ABSL_GUARDED_BY(mutex_);  // not looked at yet
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;

  // Taken under the control client's lock; no other is under it.
  mutable Mutex place_mutex_;
  FoundCoordinator coordinator_at_ ABSL_GUARDED_BY(place_mutex_);     // once it is known
  Rank holder_ ABSL_GUARDED_BY(place_mutex_) = 0;                     // whose it is
  std::vector<std::string> addresses_ ABSL_GUARDED_BY(place_mutex_);  // by rank, once it has joined
  bool others_go_on_ = false;
  bool leads_ = false;  // the models of a view are put together here; the client's thread
  std::thread seeker_;
};

// For a rank 0 that cannot begin (its --out exists, its data are missing): tells the waiting nodes
// why, which would otherwise go on dialling until their time-out. Listens where rank 0 would, for a
// few seconds or until all have been told. Blocks; if it cannot listen, nobody is told.
void TellOfFailedStart(const NodeSessionOptions& options, const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_NODE_SESSION_H_
