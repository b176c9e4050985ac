// NodeSession is one node's life in a run: the node listens, joins, trains, and ends with all the
// others.
//
// A session composes the parts of this folder and knows nothing about configurations, models or
// files: the training comes in as a runner, measurements go out through callbacks.
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
#include "node/life/decrees.h"
#include "node/runner/runner.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_server.h"
#include "node/transport/grpc/grpc_transport.h"
#include "run/records/run_standing.h"

namespace grapevine {

struct NodeSessionOptions {
  Rank rank = 0;
  Rank size = 1;
  std::string run_id;       // set on rank 0; the others learn it
  HostAddress coordinator;  // rank 0's address, unless `discovery` finds it
  // The means of finding rank 0; null if rank 0's address is known.
  std::shared_ptr<Discovery> discovery = nullptr;
  // The store of rank 0's role, which another node takes over when rank 0 is lost
  // (Discovery::moving_role); null if the role does not move. Equal to `discovery` where that moves
  // the role. Needs `resilient`, and no budget.
  std::shared_ptr<Discovery> role = nullptr;
  HostAddress bind{"127.0.0.1", 0};
  HostAddress advertise;  // the address that peers are told; empty parts are the bound address's
  GrpcCredentials credentials;
  RunToken token;  // shared by all ranks
  // Version and revision of the program, equal on all ranks.
  std::string build;
  // The settings that all ranks must agree on, the most telling first.
  std::vector<control::Agreement> agreements;
  std::string schema;     // fingerprint of the replica's layout
  std::string topology;   // canonical name, for the handshake of edges
  std::string algorithm;  // canonical name, for the handshake of edges
  Round rounds = 0;
  Round first_limit = 0;    // on rank 0: the end as known so far (RunnerOptions::limit)
  bool open_ended = false;  // whether programs say when the run ends (node/control/closing.h)
  // The largest batch, in batches of round 0, where batches grow at plateaus; else 0.
  int64_t largest_growth = 0;
  // This node's own parts of checkpoints, for a run that goes on from one.
  std::vector<control::SavedPart> parts;
  // On rank 0: where a run that goes on from a checkpoint begins.
  std::optional<control::Resumed> resumed;
  // Whether the others go on when a node is lost.
  bool resilient = false;
  // The least number of nodes with which the run goes on (CoordinatorOptions::min_nodes).
  std::optional<Rank> min_nodes;
  // Whether fewer than min_nodes nodes wait for others to come in, for rendezvous_timeout, instead
  // of ending the run.
  bool waits = false;
  // The number of nodes that may begin the run once rendezvous_timeout is over; 0: all are needed.
  Rank begin_nodes = 0;
  // Whether this node may come into a run that is under way.
  bool joins = false;
  bool settles_last = false;
  // Set if the run keeps checkpoints, which rank 0 calls for.
  std::optional<CheckpointCallsOptions> checkpoints;
  // Set if the run keeps checkpoints and its nodes share a budget of gradients.
  std::optional<RenewalsOptions> renewals;
  // The ranks from this one on are servers; 0 if the run has no servers.
  Rank workers = 0;
  // Set if nodes share a budget of gradients: the gradients of BudgetDeskOptions::rounds rounds of
  // each worker.
  std::optional<BudgetDeskOptions> budget;
  std::chrono::milliseconds rendezvous_timeout{60000};
  std::chrono::milliseconds peer_timeout{30000};
  std::chrono::milliseconds min_peer_timeout{30000};
  std::chrono::milliseconds step_timeout = std::chrono::minutes(15);
  // The faults that are injected into this node's edges; null: none.
  std::shared_ptr<EdgeFaults> faults = nullptr;
};

// Returns whether the node begins the run: rank 0 does, unless it comes into the run later.
inline bool Begins(const NodeSessionOptions& options) {
  return options.rank == 0 && !options.joins;
}

struct NodeSessionCallbacks {
  // Called once the server listens at this address: local launchers hand rank 0's port to the
  // others.
  std::function<absl::Status(const HostAddress&)> on_listening;
  // On rank 0: called once this node is announced, where it is to be, so that no other node begins
  // this run; before any node is told that the run can begin. May take a moment.
  std::function<absl::Status()> on_announced = [] { return absl::OkStatus(); };
  // On rank 0: called with what the nodes report, and with lines for rank 0's log.
  std::function<void(Rank, const control::NodeMetrics&)> on_metrics;
  std::function<void(const std::string&)> on_notice;
  // Called before this node hears of a limit: the rounds below `limit` are settled. In the rounds
  // that were not settled before, the batch is `growth` times that of round 0, where batches grow
  // at plateaus. From any thread; may be empty.
  std::function<void(Round limit, int64_t growth)> on_settled = {};
  // In an open-ended run: the rounds below `below` need no further gradients of a program that has
  // given its last one. With `all`, the program is to give no more than one. Called after
  // on_settled has had the limit.
  std::function<void(Round below, bool all)> on_coast = {};
  // On rank 0: all nodes save after this round. Called before on_part of any node.
  std::function<void(Round)> on_called = [](Round) {};
  // On rank 0: a node has saved its part of a checkpoint.
  std::function<void(Rank, const control::SavedPart&)> on_part = {};
  // On rank 0: the run goes on without this node.
  std::function<void(Rank)> on_lost = [](Rank) {};
  // On rank 0: after this round, the run goes on with another process in the place of this node.
  std::function<void(Rank, Round)> on_newcomer = [](Rank, Round) {};
  // On rank 0: called about once a second with where the nodes are. Must not wait; may be empty.
  std::function<void(const RunStanding&)> on_standing = {};
  // Called before on_start when this node comes into a run that is under way. `views` are all of
  // the views in `joined`; the last is the one with which the node comes in.
  std::function<void(const std::vector<View>& views, const control::Joined& joined)> on_joined = {};
  // All nodes have their parts of the checkpoint of this round. From the client's thread: must not
  // wait.
  std::function<void(Round)> on_checkpoint = [](Round) {};
  // On rank 0: called once all nodes are present, before any node hears of it. From any thread; may
  // take a moment.
  std::function<absl::Status()> on_gathered = [] { return absl::OkStatus(); };
  // All nodes have joined, and the run goes on from this checkpoint. Called before on_start.
  std::function<absl::Status(const control::Resumed&)> on_resumed = {};
  // This node takes over rank 0's role, which another node had; on_metrics and the other callbacks
  // of rank 0 follow. Returns an error if the node cannot have the role. From a thread of its own;
  // may take a moment.
  std::function<absl::Status()> on_role = [] { return absl::OkStatus(); };
  // Where this node has taken over the role of a lost node: averaged models come from this round
  // on, and none of an earlier round. Called before the runner hears of the view; must not wait.
  std::function<void(Round)> on_evaluations_from = [](Round) {};
  // All nodes have joined; training begins.
  std::function<absl::Status()> on_start;
  // This node has trained: evaluates and writes, before the node reports that it is done.
  std::function<absl::Status(const SharedVector& model)> on_trained;
  // On rank 0: all nodes are done; writes the run's results, before the end is announced.
  std::function<absl::Status()> on_all_done;
};

// Run is called by one thread; everything else may be called from any.
class NodeSession {
 public:
  // `runner` must outlive the session.
  NodeSession(NodeSessionOptions options, NodeSessionCallbacks callbacks, Runner* runner);
  ~NodeSession();

  // Listens, joins, trains from the replica that `initialize` writes, and waits until every node is
  // done. The error of a failed run names the culprit, even if that is another node.
  absl::Status Run(std::function<absl::Status(float* replica)> initialize);
  // Returns whether the failure of Run is confined to this node, and the others have said that they
  // go on without it. To be called once Run has failed.
  bool others_go_on() const { return others_go_on_; }

  // Makes Run return `why` (an interrupt, a full disk), and tells the others.
  void Interrupt(absl::Status why);
  // Makes Run return `why` once all nodes have a checkpoint; at once if the run keeps no
  // checkpoints or has not begun.
  void EndWithCheckpoint(absl::Status why);
  // Returns, for each neighbour to which this node sends, whether it is connected. From any thread;
  // empty before the node listens and once the run is over.
  std::map<Rank, bool> Connected();
  // Makes heartbeats show the progress of an evaluation; to be called between its batches. Returns
  // the error if the run has failed meanwhile: the evaluation must end too.
  absl::Status OnEvaluatedBatch();
  // Reports to rank 0 what was measured since the last report (node_metrics.h). Never waits; from
  // any thread, also one that outlives Run, when the report is dropped. Must not be called
  // concurrently with ReportAtRest.
  void Report(control::NodeMetrics metrics);
  // Tells rank 0 where this node stands in its share of a budget of gradients. For the runner.
  void ReportSteps(const StepsReport& steps);
  // Tells rank 0 that `peer` is lost, where nodes go on without lost ones. Never waits; from any
  // thread, also one that outlives Run (the watch over the disk does).
  void ReportLoss(Rank peer, const absl::Status& why);
  void ReportPromise(uint32_t ballot, Round round);
  // Tells rank 0, in an open-ended run, that this node's program has given its last gradient, after
  // `gradients` in all. With `all`, the other programs are to give no more either. Never waits;
  // from any thread, also one that outlives Run.
  void ReportSpent(Round gradients, bool all);
  // Tells rank 0 that this node's part of a checkpoint is on disk. Returns an error if rank 0
  // cannot be told. Never waits; from any thread, also one that outlives Run.
  absl::Status ReportPart(control::SavedPart part);
  // On rank 0: tells all nodes that the checkpoint of this round is complete.
  void OnCheckpoint(Round round) { coordinator_->OnCheckpoint(round); }
  // Reports on this node's own model, once the node has trained; waits for room in the queue if it
  // must.
  absl::Status ReportAtRest(control::NodeMetrics metrics);
  // On rank 0: moves the end of the run; a final limit settles it. `growth` is the one that
  // on_settled receives; 0 where no batch grows at plateaus.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

 private:
  absl::Status Listen();
  // On rank 0: announces this node, so that the others find it.
  absl::Status Announce();
  // On rank 0: gets what the run needs to begin. On an error, tells the nodes that have arrived why
  // the run cannot begin.
  absl::Status PrepareToBegin();
  absl::Status Join();
  // Returns where rank 0 is.
  absl::StatusOr<FoundCoordinator> FindCoordinator();
  // Joins at the node that has rank 0's role. A node that comes into a run whose role moves looks
  // for the role again if no answer comes.
  absl::StatusOr<control::Roster> JoinWhereTheRoleIs();
  // Asks the coordinator at `found` for the roster, until `deadline` if no answer comes.
  absl::StatusOr<control::Roster> AskToJoin(const FoundCoordinator& found,
                                            std::chrono::steady_clock::time_point deadline);
  absl::StatusOr<control::Roster> AwaitRoster(std::chrono::steady_clock::time_point deadline);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> ControlChannel();
  // Returns how the control client makes another connection; empty at rank 0, whose connection is
  // in process.
  GrpcControlClient::Dial Redial();
  control::Registration Registration() const;
  control::Heartbeat Heartbeat() const;
  void StartControl();
  // Takes in what the run had settled before it goes on from a checkpoint.
  void Settle(const control::Resumed& resumed);
  // Comes into a run that is under way.
  void ComeIn(const control::Joined& joined);
  // Makes the transport accept a newcomer, in the place of a member that was left out.
  void Expect(const control::Newcomer& newcomer);
  void SetLimit(Round limit, bool final, int64_t growth);
  // Returns why the run has ended for this node; OK while the run has not ended, or if it ended
  // well.
  absl::Status Ended();
  // Sends a report to rank 0. Ends the run if the queue has no room although the run goes on: the
  // others would wait for the report. From any thread, also one that outlives Run. Never waits.
  absl::Status TellAtOnce(control::Report report);
  // Records how the run has ended for this node; the first call counts.
  void End(const absl::Status& how);
  // Sends a report to rank 0 if the run goes on; the caller handles the error if it cannot be sent.
  // From any thread, also one that outlives Run. Never waits.
  absl::Status TellIfItRuns(control::Report report);
  absl::Status Tell(control::Report last);
  absl::Status SayDone();
  // On the node that has the role, once all nodes are done: writes the results and announces the
  // end.
  absl::Status Conclude();
  // Waits until this node has its role for certain, for at most rendezvous_timeout and only while
  // the run has not ended otherwise; where the role may move, also until the store has taken down
  // that the run has ended well, so that no node takes the role any more.
  absl::Status EndTenure();
  absl::Status AwaitEnd();
  CoordinatorOptions Coordination(std::optional<SuccessionOptions> succession) const;
  std::unique_ptr<GrpcCoordinatorService> MakeCoordinator(
      std::optional<SuccessionOptions> succession);

  // Finds the next coordinator whenever this node has lost its own, until the session leaves. Runs
  // on a thread of its own where the role moves.
  void SeekCoordinators();
  struct LostCoordinator {
    absl::Status why;
    bool gone;  // ControlLine::gone
  };
  std::optional<LostCoordinator> AwaitLoss();
  void SeekCoordinator(const LostCoordinator& coordinator);
  void GoOnWith(const MovingRole::Holder& holder, const absl::Status& lost);
  // Starts a coordinator on this node, which has taken the role.
  absl::Status TakeRole();
  void StopSeeking();
  MovingRole* role() const;
  // Returns where rank 0 is announced; null if it is not announced.
  Discovery* Place() const;
  // Returns the lease by which rank 0 acts for the run; null if there is none.
  RoleLease* lease() const;
  // Returns the rank that had the role last, as far as this node knows.
  Rank Holder() const;
  // Returns whether this node begins the run, as its first coordinator.
  bool begins() const { return Begins(options_); }
  const std::string& RunId() const { return begins() ? options_.run_id : run_id_; }
  void OnAllDone();
  // Returns what ended the run for this node; `symptom` may be only a consequence of it.
  absl::Status Cause(const absl::Status& symptom);
  // Asks rank 0 whether another cause is behind `symptom`.
  absl::Status Verdict(const absl::Status& symptom);
  void TearDown();

  const NodeSessionOptions options_;
  const NodeSessionCallbacks callbacks_;
  Runner* const runner_;
  const uint64_t process_;  // tells this process from another one of its rank

  HostAddress advertised_;
  std::string run_id_;                           // set once this node has joined
  std::chrono::steady_clock::time_point began_;  // when the run began, not this process
  std::chrono::steady_clock::time_point rendezvous_deadline_;
  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<GrpcCoordinatorService> coordinator_;  // set where this node has the role
  std::unique_ptr<GrpcControlDoor> door_;                // set where it may have the role later
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GrpcControlClient> control_;
  std::optional<control::Resumed> resumed_;  // set once this node has joined
  // What newcomers to a run that goes on from a checkpoint must know of that checkpoint.
  std::optional<control::Resumed> inherited_;
  MetricsReporter reporter_;
  Decrees decrees_;  // for the control client's thread

  std::atomic<bool> trained_ = false;
  std::atomic<int64_t> evaluated_batches_ = 0;

  Mutex mutex_;
  Condition ended_;
  bool all_done_ ABSL_GUARDED_BY(mutex_) = false;  // on rank 0: every node is done
  bool joining_ ABSL_GUARDED_BY(mutex_) = false;   // control_ exists, and waits for the others
  GrpcControlClient* told_ ABSL_GUARDED_BY(mutex_) = nullptr;  // control_, while parts are reported
  GrpcTransport* shown_ ABSL_GUARDED_BY(mutex_) = nullptr;     // transport_, while it exists
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  std::optional<LostCoordinator> orphaned_ ABSL_GUARDED_BY(mutex_);  // not handled yet
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;

  // Taken while the control client's lock is held; no other lock is taken while this one is held.
  mutable Mutex place_mutex_;
  FoundCoordinator coordinator_at_ ABSL_GUARDED_BY(place_mutex_);     // set once it is known
  Rank holder_ ABSL_GUARDED_BY(place_mutex_) = 0;                     // the coordinator's rank
  std::vector<std::string> addresses_ ABSL_GUARDED_BY(place_mutex_);  // by rank, once joined
  bool others_go_on_ = false;
  std::thread seeker_;
};

// Tells the waiting nodes why rank 0 cannot begin (its --out exists, its data are missing); they
// would otherwise go on dialling until their time-out. Listens where rank 0 would, for a few
// seconds or until all nodes have been told. Blocks; if it cannot listen, no node is told.
void TellOfFailedStart(const NodeSessionOptions& options, const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_NODE_SESSION_H_
