// Drives one algorithm in a real run: the loop between a mailbox and the algorithm's state machine,
// and the algorithm's Host.
//
// Transport threads, the gradient thread and the control connection only put items into the
// mailbox; the algorithm, the arithmetic of mixing and the model reduction run on the thread that
// calls Run. Rank 0 judges from `progress` whether a node waits for too long (coordinator.h).
#ifndef GRAPEVINE_NODE_RUNNER_RUNNER_H_
#define GRAPEVINE_NODE_RUNNER_RUNNER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/async_gradients.h"
#include "algorithm/host.h"
#include "algorithm/receiving.h"
#include "algorithm/view.h"
#include "base/gradient.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/objective.h"
#include "node/runner/data_path.h"
#include "node/runner/living_peers.h"
#include "node/runner/mailbox.h"
#include "node/runner/model_assembly.h"
#include "node/runner/node_exchange.h"
#include "node/runner/node_gradients.h"
#include "node/runner/round_progress.h"
#include "node/runner/state_lane.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/transport.h"
#include "optim/optimizer.h"
#include "run/checkpoint/node_state.h"
#include "run/records/step_account.h"
#include "system/mutex.h"

namespace grapevine {

// The times of one round.
struct RoundReport {
  Round completed = 0;  // rounds (steps) of the node's own, this one included
  double loss = 0;      // loss of this node's batch; 0 for a parameter server
  GradientNoise noise;  // noise of this node's gradient, if it is measured
  // Norms of the gradient and of the replica at which it was taken, if they are measured.
  std::vector<TensorNorms> norms;
  std::chrono::nanoseconds time{};      // from boundary to boundary
  std::chrono::nanoseconds gradient{};  // time on the gradient thread, in parallel
  std::chrono::nanoseconds mix{};       // time of the passes over vectors that have ended
  int64_t mix_bytes = 0;                // bytes that these passes read and wrote
  // The peer for which the node only waited, if there was one (run/records/step_account.h), and for
  // how long.
  std::optional<Rank> awaited;
  std::chrono::nanoseconds waited{};
};

// The traffic of a node when it is measured: payload of the algorithm's messages in all rounds that
// it has completed.
struct CutReport {
  Round round = 0;  // nominal with a shared budget of gradients, else the node's own
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
};

// Observes a run. All methods are called on the runner's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called at every boundary. An error ends the run.
  virtual absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) = 0;
  // Called when the node may be measured: after every round or, if nodes share a budget of
  // gradients, after the nominal rounds that rank 0 names. An error ends the run.
  virtual absl::Status OnCut(const CutReport& report, const BoundaryModel& model) {
    return absl::OkStatus();
  }
  // Called with a report that rank 0 shall hear, if nodes share a budget of gradients.
  virtual void OnSteps(const StepsReport& report) {}
  // Called with the state that this node keeps after a round of RunnerOptions::saved, or as a view
  // for a checkpoint begins, once all of the state has arrived. The next state comes only after
  // Runner::OnStateWritten.
  virtual void OnState(SavedNode saved) {}
  // Called only on rank 0, or the node that has its role, with the model that counts at an
  // evaluation round. The next model is computed only after Runner::OnAverageDone says that this
  // one is released.
  virtual void OnAverage(AveragedModel average) = 0;
  // Called on the other nodes with the same model, if models are told
  // (RunnerOptions::tells_average). The runner does not wait for its release.
  virtual void OnToldAverage(const AveragedModel& average) {}
  // Called only on rank 0, or the node that has its role: this round will have no averaged model,
  // because nodes were lost.
  virtual void OnNoAverage(Round round) {}
  // Called if nodes go on without those that are lost. Rank 0 shall hear that `peer` may be lost,
  // and how far this node may go until the members have agreed
  // (algorithm/membership/view_agreement.h).
  virtual void OnPeerLost(Rank peer, const absl::Status& why) {}
  virtual void OnPromise(uint32_t ballot, Round round) {}
};

// The present work of a node, and the ranks that it waits for: for heartbeats.
struct Progress {
  Round round = 0;  // rounds completed
  std::string doing = "preparing";
  // The ranks that must do something before this node can go on. None while the node has work of
  // its own: a gradient, an evaluation that holds the run up, its part of a round.
  std::vector<Rank> waiting_for;
};

struct RunnerOptions {
  Rank rank = 0;
  // The ranks below this one compute gradients and hold a model, which is averaged; the
  // others are parameter servers (algorithm/algorithm.h, WorkerCount).
  Rank workers = 1;
  // The number of all nodes, and the model that is put together where `evaluate` says so.
  Rank nodes = 1;
  EvaluatedModel evaluated = EvaluatedModel::kWorkersMean;
  // Whether that model is told to all nodes that take part in it (ModelBroadcast). Has no effect if
  // the model is the servers'.
  bool tells_average = false;
  // The number of rounds, and the limit of the rounds to do so far: less than `rounds` while the
  // end is not settled (SetLimit).
  Round rounds = 0;
  Round limit = 0;
  // Whether the end is open, at most at `rounds`: the limit then moves inwards, to where no node
  // has begun a round.
  bool open_ended = false;
  // Whether nodes share a budget of gradients. If so, the limit is this node's own, `rounds` are
  // nominal, and rank 0 says when to measure (Cut).
  bool shares_budget = false;
  // Returns whether the averaged model is taken once `completed` rounds are done; the same on all
  // nodes.
  std::function<bool(Round completed)> evaluate;
  // Returns whether the node's state is saved once `completed` rounds are done; none: never.
  std::function<bool(Round completed)> saved = {};
  // Whether rank 0 may name other rounds after which the state is saved (Hold, SaveAt).
  bool saves_on_call = false;
  // The number of rounds that the algorithm works on at once (AlgorithmOptions).
  int window = 1;
  // Whether the members may change (ResilientAlgorithm). If so, a lost peer is no error here, and
  // rank 0 says what follows.
  bool changes_views = false;
  // The largest norm of a neighbour's message (algorithm/receiving.h).
  double max_norm = kAnyNorm;
  // The pace of this node's gradients; none: they are not slowed down.
  GradientPace pace = {};
  TraceRecorder* trace = nullptr;  // outlives the runner; may be null
  // Makes the data path of the node's vectors; none: vectors live in host memory.
  MakeDataPath data_path = {};
  // Makes the gradient computer; none: the runner uses a thread of its own.
  MakeGradients gradients = {};
  // Returns the time, for all that HandleMail measures and waits for.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

// Runs on one thread, except for the methods that any thread may call.
class Runner final : public TransportSink, private Host {
 public:
  // Everything that is pointed to outlives the runner. `objective` may be null if no gradients are
  // computed.
  Runner(RunnerOptions options, std::unique_ptr<Algorithm> algorithm, Objective* objective,
         const ReplicaLayout* layout, const Optimizer* optimizer, RunObserver* observer);
  ~Runner() override;

  // Makes the node go on from `saved` instead of a fresh replica. Must be called before Run.
  void GoOnFrom(SavedNode saved);
  // Makes the node begin in `round` with a fresh replica, after it has sent and received these
  // bytes. Must be called before Run.
  void BeginIn(Round round, int64_t bytes_sent, int64_t bytes_received);
  // Makes the node come into a run that is under way, with this view. Must be called before Run.
  void ComeIn(View view, Rank lead);
  // Sets, for a node that comes in (ComeIn), the bytes that earlier processes of its rank sent and
  // received. Must be called before Run.
  void CountOn(int64_t bytes_sent, int64_t bytes_received);

  // Runs to the final limit, including the last model reduction, over a transport whose sink is
  // this runner. Errors carry a Failure and name this rank, the round, the peer and the time.
  absl::Status Run(Transport* transport, std::function<absl::Status(float* replica)> initialize);

  // Together do the work of Run in steps, for a driver with many runners on one thread: BeginRun,
  // then HandleMail whenever there may be mail, until one of them fails or the runner has finished,
  // then EndRun.
  absl::Status BeginRun(Transport* transport,
                        std::function<absl::Status(float* replica)> initialize);
  // Handles the mail that has arrived. Never blocks.
  absl::Status HandleMail();
  // Returns whether the final limit is reached and the last reduction is done.
  bool finished() const;
  // Ends the run: no gradient runs afterwards.
  void EndRun();

  // The following methods may be called from any thread.
  //
  // Moves the limit; Run returns at a final one.
  void SetLimit(Round limit, bool final);
  // Reports that a nominal round is over: the node is measured at its next boundary, or now if it
  // rests. Comes before the final limit.
  void Cut(Round round);
  // Asks, after the loss of a member, how far the node may go.
  void Prepare(uint32_t ballot);
  // Tells the node who is in the run from a round on; all members but newcomers were in the view
  // before. `again` is the round whose model these members put together, even if they have begun to
  // do so together with lost nodes; no round has followed it. `lead` is the member that has rank
  // 0's role, where the models of the view are put together.
  void ChangeView(View view, std::optional<Round> again, Rank lead = 0);
  // Asks how far the node may go, under ballots that increase. Returns the present leave, for the
  // rounds below. The node gets no more leave until SaveAt of this ballot, which names the number
  // of rounds, larger than the leave, after which the node's state is saved, or no round if it is
  // not saved.
  Round Hold(uint32_t ballot) { return leave_.Hold(ballot); }
  void SaveAt(uint32_t ballot, std::optional<Round> round);
  // Reports that the observer has released the last average: memory suffices for only one.
  void OnAverageDone();
  // Reports that the observer has written the last state.
  void OnStateWritten();
  // Makes Run return `why`.
  void Abort(absl::Status why);
  Progress progress() const;

  // After Run failed: returns the peer whose loss was the reason, if a loss was the reason.
  std::optional<Rank> lost_peer() const { return lost_peer_; }
  // Returns how stale the gradients were that this node applied. May be called within the
  // observer's calls, or after Run.
  const Staleness& staleness() const { return staleness_; }
  // After Run returned OK: returns this node's model; empty for a parameter server.
  const SharedVector& model() const { return model_; }

  // TransportSink:
  void OnReceived(const Received& message) override;
  void OnOffered(const Offered& offer) override;
  void OnLost(Rank from, Tag tag) override;
  void OnLeft(Rank to, Tag tag) override;
  void OnSent(Rank to, Tag tag) override;
  void OnDeclined(Rank to, Tag tag) override;
  void OnPeerFailed(Rank peer, const absl::Status& why) override;

 private:
  // A round to be measured, and the number of views that were agreed upon before. The averaged
  // models are those of the members of the last of these views.
  struct DueCut {
    Round round;
    size_t views;
  };

  using Clock = std::chrono::steady_clock;

  absl::Status MakeParts();
  std::unique_ptr<GradientComputer> NewGradients();
  absl::Status Begin();
  absl::Status Loop();
  // Handles one item, and everything that it makes possible.
  absl::Status Handle(const Mailbox::Item& item);
  absl::Status On(const Received& message);
  absl::Status On(const Offered& offer);
  absl::Status On(const Lost& post);
  absl::Status On(const Mailbox::MessageLeft& message);
  absl::Status On(const Mailbox::MessageSent& message);
  absl::Status On(const Mailbox::MessageDeclined& message);
  absl::Status On(const GradientReady& part);
  absl::Status On(const GradientResult& result);
  absl::Status On(const Mailbox::LimitMoved& moved);
  absl::Status On(const Mailbox::CutDue& cut);
  absl::Status On(const grapevine::Prepare& prepare);
  absl::Status On(const Mailbox::ViewAgreed& agreed);
  absl::Status On(const Mailbox::CheckpointDue& due);
  absl::Status On(const Mailbox::AverageDone&);
  absl::Status On(const Mailbox::StateWritten&);
  absl::Status On(const Mailbox::PeerFailed& failed);
  absl::Status On(const Mailbox::DeviceFailed& failed) { return InRound(failed.why); }
  absl::Status On(const Mailbox::Aborted& aborted) { return aborted.why; }
  // Lets the reductions, the gradient and the algorithm do all they can.
  absl::Status Pump();
  absl::Status AdvanceReductions();
  // Returns whether the work under way leaves the algorithm no room to go on.
  bool HeldUp() const { return assembly_->holds_up() || states_.behind(); }
  // Returns the event that the algorithm hears of next; end() if no event may be heard.
  std::deque<Event>::iterator NextHeard();
  // Returns the round in which this node begins.
  Round BeginRound();
  void LeaveOutOthersThan(const View& view);
  void LeaveRest();
  // Gives the algorithm new leave, if there is any.
  void Grant(std::optional<Round> leave);
  // Returns whether the algorithm has leave for all rounds of the run.
  bool MayEnd() const { return limit_final_ && leave_.granted() == limit_; }
  // Returns whether the shared budget is used up. All nodes then rest, and a later view has nothing
  // left to do; giving way to one might need a neighbour that is done and gone.
  bool budget_is_used_up() const { return options_.shares_budget && limit_final_; }
  // Reads the model into host memory. Called only at the end, since this takes time on a device.
  absl::Status FetchModel();
  // Adds this node's model, which has no view yet, to be averaged with those of all members of the
  // last of the first `views` views.
  void AddToAverage(ModelAssembly::Due due, size_t views);
  // Returns how many views have begun before that round.
  size_t ViewsBefore(Round round) const;
  // Measures the node.
  void TakeCut(DueCut cut, Round completed, Vec model);
  void TakeDueCuts(Round completed, Vec model);
  void ReportSteps(Round steps);
  // Returns whether the state is saved at this boundary.
  bool Saves(Round completed);
  // Saves the state of the algorithm at its boundary. Errors go to observed_.
  void SaveState(Round checkpoint, Round completed, Vec model, Clock::time_point at);
  void HandOverState();
  // Returns the restorer that gives the algorithm its saved state as it begins; null if the node
  // has none to restore.
  std::unique_ptr<StateRestorer> Restorer();
  absl::Status CheckRestored(const StateRestorer& restorer) const;
  // Returns the elements of a vector, in host memory that nobody writes; no data after an error,
  // which goes to observed_.
  SharedVector Frozen(Vec vector, Vec model);
  // Returns the model in host memory; no data if none exists. Errors go to observed_.
  SharedVector Fetch(Vec model);
  void DialAhead();
  // Dials all members of a view, if each must hear of what any other offers.
  void DialMembers(const View& view);
  // Counts a pass over vectors that has ended.
  void OnPass(Clock::time_point begin, Clock::time_point end, int64_t bytes);
  // Records that the runner had nothing to do from `since` until `item` came.
  void TraceWait(Clock::time_point since, const Mailbox::Item& item);

  // Errors, with the place and the reason:
  absl::Status InRound(const absl::Status& why) const;
  absl::Status Diverged(Round round) const;
  absl::Status LossOf(Rank peer, const absl::Status& why) const;
  // Returns LossOf, and notes that this node cannot go on because of it (lost_peer).
  absl::Status PeerLost(Rank peer, const absl::Status& why);
  // Reports a message or a post that a lost peer refused as the loss of that peer: the mail that
  // says so may still be on its way.
  absl::Status NamingLostPeer(absl::Status status);
  // Returns the first error of a request; requests cannot report errors to their caller.
  absl::Status RequestStatus() const;

  // Returns whether this node's own evaluation holds the run up.
  bool AwaitsEvaluation() const;
  std::set<Rank> WaitingFor() const;
  Progress CurrentProgress() const;
  void Publish(Progress progress);

  // Host:
  int64_t replica_size() const override { return layout_->size; }
  ReplicaRange parameters() const override { return {0, layout_->parameter_size}; }
  Vec InitialReplica(ReplicaRange range) override;
  int64_t SizeOf(Vec vector) const override { return data_path_->vectors().size(vector); }
  Vec New(int64_t size, const char* role) override { return data_path_->vectors().New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override;
  void Drop(Vec vector) override { data_path_->Drop(vector); }
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override;
  void Combine(Part out, std::span<const Term> terms) override { data_path_->Combine(out, terms); }
  void Clip(Part part, double limit) override { data_path_->Clip(part, limit); }
  void Step(const StepRequest& request) override;
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) override;
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  void Decline(Rank from, Tag tag) override;
  void Withdraw(Rank from, Tag tag) override;
  void GradientApplied(int64_t staleness) override { staleness_.Add(staleness); }
  void Promise(uint32_t ballot, Round round) override { observer_->OnPromise(ballot, round); }
  void BeginView(const View& view, Vec model) override;
  void Boundary(Round completed, Vec model) override;
  void Rest(Vec model) override;

  const RunnerOptions options_;
  const std::unique_ptr<Algorithm> algorithm_;
  Objective* const objective_;
  const ReplicaLayout* const layout_;
  const Optimizer* const optimizer_;
  RunObserver* const observer_;

  Mailbox mailbox_;
  std::unique_ptr<LivingPeers> peers_;  // only if nodes go on without those that are lost
  Transport* transport_ = nullptr;      // peers_, if it exists
  std::function<absl::Status(float* replica)> initialize_;
  std::unique_ptr<DataPath> data_path_;
  std::unique_ptr<NodeExchange> exchange_;
  std::unique_ptr<GradientLane> gradients_;
  std::unique_ptr<ModelAssembly> assembly_;

  std::optional<SavedNode> resumed_;  // until the algorithm has begun
  bool restores_ = false;             // whether to restore that state, not only its round
  StateLane states_;
  RoundLeave leave_;
  // The rounds that rank 0 has named, after which the state is saved; ascending.
  std::deque<Round> called_;

  // The events for the algorithm, which hears them once reductions have caught up.
  std::deque<Event> held_;
  Round limit_;
  bool limit_final_;
  bool resting_ = false;
  Vec rest_;  // the model of the present rest
  SharedVector model_;
  std::deque<Mailbox::ViewAgreed> views_;  // all views after the first
  // The model that was last added to be averaged, if nodes go on without those that are lost.
  std::optional<ModelAssembly::Due> shown_;
  std::deque<DueCut> cuts_;  // cuts that are due: at most the nominal rounds
  Round last_cut_ = 0;
  StepReports step_reports_;
  Round begin_ = 0;                                // rounds that were done before
  int64_t sent_before_ = 0, received_before_ = 0;  // set by CountOn
  Round dialled_ = 0;
  RoundReport report_;          // the report of the current round
  Clock::time_point boundary_;  // the beginning of the current round
  StepAccount step_;            // the account of the current round
  Clock::time_point rested_;    // the beginning of the present rest
  Staleness staleness_;
  std::optional<Rank> lost_peer_;
  // The error of a request, except of requests to data_path_ and exchange_.
  absl::Status status_;
  absl::Status observed_;  // the first error at a boundary

  mutable Mutex progress_mutex_;
  Progress progress_ ABSL_GUARDED_BY(progress_mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_RUNNER_H_
