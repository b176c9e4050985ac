// Drives one algorithm for real: the loop between a mailbox and the algorithm's state machine, and
// the algorithm's Host.
//
// Transport threads, the gradient thread and the control connection only put items into the
// mailbox; the algorithm, the arithmetic of mixing and the model reduction run on the thread that
// calls Run. Rank 0 judges whether a node waits for too long (coordinator.h), from what `progress`
// says.
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

// Where the time of one round went.
struct RoundReport {
  Round completed = 0;                  // rounds (steps) of its own, this one included
  double loss = 0;                      // of this node's batch; 0 for a parameter server
  GradientNoise noise;                  // of this node's gradient, where it is measured
  std::vector<TensorNorms> norms;       // likewise, and of the replica at which it was taken
  std::chrono::nanoseconds time{};      // from boundary to boundary
  std::chrono::nanoseconds gradient{};  // on the gradient thread, in parallel
  std::chrono::nanoseconds mix{};       // of the passes over vectors that have ended
  int64_t mix_bytes = 0;                // that they read and wrote
  // For whom it only waited, if it was for anybody (run/records/step_account.h), and how long.
  std::optional<Rank> awaited;
  std::chrono::nanoseconds waited{};
};

// What a node has sent and received when it is measured: payload of the algorithm's messages, of
// all rounds that it has completed.
struct CutReport {
  Round round = 0;  // nominal where nodes share a budget of gradients, otherwise the node's own
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
};

// Called on the runner's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // At every boundary. An error ends the run.
  virtual absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) = 0;
  // The node may be measured: after every round; where nodes share a budget of gradients, after
  // the nominal rounds of which rank 0 says so. An error ends the run.
  virtual absl::Status OnCut(const CutReport& report, const BoundaryModel& model) {
    return absl::OkStatus();
  }
  // Where nodes share a budget of gradients: rank 0 is to hear this.
  virtual void OnSteps(const StepsReport& report) {}
  // What this node keeps after a round of RunnerOptions::saved, once all of it has arrived; or as a
  // view begins that is for a checkpoint. The next one comes after Runner::OnStateWritten.
  virtual void OnState(SavedNode saved) {}
  // Only on rank 0, or whoever has its role: the model that counts at an evaluation round. The next
  // one is computed once Runner::OnAverageDone says that this one is released.
  virtual void OnAverage(AveragedModel average) = 0;
  // Where models are told (RunnerOptions::tells_average): on the others, the same model. It is not
  // awaited.
  virtual void OnToldAverage(const AveragedModel& average) {}
  // Only on rank 0, likewise: there will be none of this round, as nodes were lost.
  virtual void OnNoAverage(Round round) {}
  // Where nodes go on without those that are lost: rank 0 is to hear that this one may be, and how
  // far this node may go until the members have agreed (algorithm/membership/view_agreement.h).
  virtual void OnPeerLost(Rank peer, const absl::Status& why) {}
  virtual void OnPromise(uint32_t ballot, Round round) {}
};

// What a node is doing, and for whom it waits: for heartbeats.
struct Progress {
  Round round = 0;  // completed
  std::string doing = "preparing";
  // Ranks that must do something before this node can go on. None while it has work of
  // its own: a gradient, an evaluation that holds the run up, its part of a round.
  std::vector<Rank> waiting_for;
};

struct RunnerOptions {
  Rank rank = 0;
  // The ranks below this one compute gradients and hold a model, which is averaged; the
  // others are parameter servers (algorithm/algorithm.h, WorkerCount).
  Rank workers = 1;
  // All nodes, and which model is put together where `evaluate` says so.
  Rank nodes = 1;
  EvaluatedModel evaluated = EvaluatedModel::kWorkersMean;
  // Whether that model is told to all that have a part in it (ModelBroadcast); not of servers.
  bool tells_average = false;
  // Rounds to do; `limit` < `rounds` while the end is not settled (SetLimit).
  Round rounds = 0;
  Round limit = 0;
  // The end is not settled, and at most there: the limit moves inwards, to where no node has begun
  // a round.
  bool open_ended = false;
  // Nodes share a budget of gradients: the limit is this node's own, `rounds` are nominal, and
  // rank 0 says when to measure (Cut).
  bool shares_budget = false;
  // Whether the averaged model is taken once `completed` rounds are done; the
  // same on all nodes.
  std::function<bool(Round completed)> evaluate;
  // Whether the node's state is saved once `completed` rounds are done; none: never.
  std::function<bool(Round completed)> saved = {};
  // Whether rank 0 may name other rounds after which it is saved (Hold, SaveAt).
  bool saves_on_call = false;
  // The rounds that the algorithm works on at once (AlgorithmOptions).
  int window = 1;
  // Whether there may be other views (ResilientAlgorithm): a lost peer is then no error here, and
  // rank 0 says what follows.
  bool changes_views = false;
  double max_norm = kAnyNorm;      // of a neighbour's message (algorithm/receiving.h)
  GradientPace pace = {};          // of this node's gradients; none: not slowed down
  TraceRecorder* trace = nullptr;  // outlives the runner; may be null
  // Makes the data path of the node's vectors; none: host memory.
  MakeDataPath data_path = {};
  // Makes the gradient computer; none: a thread of the runner's own.
  MakeGradients gradients = {};
  // The clock for all that HandleMail measures and waits for.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

// One thread runs it; methods that any thread may call say so.
class Runner final : public TransportSink, private Host {
 public:
  // What is pointed to outlives the runner. `objective` may be null where no gradients are
  // computed.
  Runner(RunnerOptions options, std::unique_ptr<Algorithm> algorithm, Objective* objective,
         const ReplicaLayout* layout, const Optimizer* optimizer, RunObserver* observer);
  ~Runner() override;

  // Before Run: the node goes on from there, and not from a fresh replica.
  void GoOnFrom(SavedNode saved);
  // Likewise, from a fresh replica in that round, after it has sent and received so much.
  void BeginIn(Round round, int64_t bytes_sent, int64_t bytes_received);
  // Likewise: it comes into a run that is under way, with this view.
  void ComeIn(View view, Rank lead);
  // Likewise, then: processes before it have sent and received so much.
  void CountOn(int64_t bytes_sent, int64_t bytes_received);

  // Runs to the final limit, the last model reduction included, over a transport whose
  // sink is this runner. Errors carry a Failure and name this rank, the round, the peer
  // and the time.
  absl::Status Run(Transport* transport, std::function<absl::Status(float* replica)> initialize);

  // Run in steps, for a driver with many runners on one thread: BeginRun, then HandleMail
  // whenever there may be mail, until one of them fails or the runner has finished; then
  // EndRun.
  absl::Status BeginRun(Transport* transport,
                        std::function<absl::Status(float* replica)> initialize);
  // Handles the mail that has come. Never blocks.
  absl::Status HandleMail();
  // Whether the final limit is reached and the last reduction done.
  bool finished() const;
  // No gradient runs after it.
  void EndRun();

  // Any thread:
  // Moves the limit; Run returns at a final one.
  void SetLimit(Round limit, bool final);
  // A nominal round is over: the node is measured at its next boundary, or now if it rests. Before
  // the limit that is final.
  void Cut(Round round);
  // A member is lost: the node is to say how far it may go; and who is in the run from then on, all
  // of whom were in the view before. `again`: the round whose model these are to put together,
  // whether or not they have begun to with those who are lost, as no round follows it. `lead`: the
  // member that has rank 0's role, at which models of the view are put together.
  void Prepare(uint32_t ballot);
  void ChangeView(View view, std::optional<Round> again, Rank lead = 0);
  // The node is asked how far it may go, under ballots that increase: it has leave for the rounds
  // below, and gets no more until SaveAt of this ballot, which says after how many rounds, more
  // than these, its state is saved; or that it is not.
  Round Hold(uint32_t ballot) { return leave_.Hold(ballot); }
  void SaveAt(uint32_t ballot, std::optional<Round> round);
  // The observer has released the last average: there is memory for only one.
  void OnAverageDone();
  // Likewise, the last state.
  void OnStateWritten();
  // Makes Run return `why`.
  void Abort(absl::Status why);
  Progress progress() const;

  // After Run failed: the peer whose loss was the reason, if that was it.
  std::optional<Rank> lost_peer() const { return lost_peer_; }
  // How stale the gradients were that this node applied: within the observer's calls,
  // or after Run.
  const Staleness& staleness() const { return staleness_; }
  // After Run returned OK: this node's model; empty for a parameter server.
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
  // A round to be measured, and how many views have been agreed upon before: the models that are
  // averaged then are those of the last one's members.
  struct DueCut {
    Round round;
    size_t views;
  };

  using Clock = std::chrono::steady_clock;

  absl::Status MakeParts();
  std::unique_ptr<GradientComputer> NewGradients();
  absl::Status Begin();
  absl::Status Loop();
  // Handles one item, and all that it makes possible.
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
  // Whether what is under way leaves no room for the algorithm to go on.
  bool HeldUp() const { return assembly_->holds_up() || states_.behind(); }
  // The event that the algorithm hears of next; end() while there is none, or it is held up.
  std::deque<Event>::iterator NextHeard();
  // The round in which this node begins.
  Round BeginRound();
  void LeaveOutOthersThan(const View& view);
  void LeaveRest();
  // To the algorithm, if there is new leave.
  void Grant(std::optional<Round> leave);
  // Whether the algorithm has leave for all that the run has.
  bool MayEnd() const { return limit_final_ && leave_.granted() == limit_; }
  // All nodes rest then, and no view after it has anything to do; to give way to one may need a
  // neighbour that is done and gone.
  bool budget_is_used_up() const { return options_.shares_budget && limit_final_; }
  // At the end alone: on a device a model takes its time.
  absl::Status FetchModel();
  // This node's model, without a view, is due to be averaged with those of all members then.
  void AddToAverage(ModelAssembly::Due due, size_t views);
  // How many views have begun before that round.
  size_t ViewsBefore(Round round) const;
  // Measures the node.
  void TakeCut(DueCut cut, Round completed, Vec model);
  void TakeDueCuts(Round completed, Vec model);
  void ReportSteps(Round steps);
  // Whether the state is saved at this boundary.
  bool Saves(Round completed);
  // Saves the state of the algorithm, whose boundary it is. Errors go to observed_.
  void SaveState(Round checkpoint, Round completed, Vec model, Clock::time_point at);
  void HandOverState();
  // Shows the algorithm that has begun what it is to go on with.
  std::unique_ptr<StateRestorer> Restorer();
  absl::Status CheckRestored(const StateRestorer& restorer) const;
  // A vector in host memory that nobody writes; no data after an error, which goes to observed_.
  SharedVector Frozen(Vec vector, Vec model);
  // The model in host memory; no data if there is none. Errors go to observed_.
  SharedVector Fetch(Vec model);
  void DialAhead();
  // All members of a view, where each must hear of what any other offers.
  void DialMembers(const View& view);
  // A pass over vectors is over.
  void OnPass(Clock::time_point begin, Clock::time_point end, int64_t bytes);
  // There was nothing to do from `since` until `item` came.
  void TraceWait(Clock::time_point since, const Mailbox::Item& item);

  // Errors, with where and why:
  absl::Status InRound(const absl::Status& why) const;
  absl::Status Diverged(Round round) const;
  absl::Status LossOf(Rank peer, const absl::Status& why) const;
  // The same where this node cannot go on for it (lost_peer).
  absl::Status PeerLost(Rank peer, const absl::Status& why);
  // A message or a post that a lost peer refused is told as its loss: the mail that says so may
  // still be on its way.
  absl::Status NamingLostPeer(absl::Status status);
  // The first error of a request; requests cannot fail to their caller.
  absl::Status RequestStatus() const;

  // Whether this node's own evaluation holds the run up.
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
  std::unique_ptr<LivingPeers> peers_;  // where nodes go on without those that are lost
  Transport* transport_ = nullptr;      // peers_, if there are such
  std::function<absl::Status(float* replica)> initialize_;
  std::unique_ptr<DataPath> data_path_;
  std::unique_ptr<NodeExchange> exchange_;
  std::unique_ptr<GradientLane> gradients_;
  std::unique_ptr<ModelAssembly> assembly_;

  std::optional<SavedNode> resumed_;  // until the algorithm has begun
  bool restores_ = false;             // that state, and not only its round
  StateLane states_;
  RoundLeave leave_;
  std::deque<Round> called_;  // rounds to be saved after, ascending, that rank 0 has named

  std::deque<Event> held_;  // for the algorithm, once reductions have caught up
  Round limit_;
  bool limit_final_;
  bool resting_ = false;
  Vec rest_;  // the model of that rest
  SharedVector model_;
  std::deque<Mailbox::ViewAgreed> views_;  // after the first
  // Where nodes go on without those that are lost: what was last to be averaged.
  std::optional<ModelAssembly::Due> shown_;
  std::deque<DueCut> cuts_;  // that are due: at most the nominal rounds
  Round last_cut_ = 0;
  StepReports step_reports_;
  Round begin_ = 0;                                // rounds that were done before
  int64_t sent_before_ = 0, received_before_ = 0;  // CountOn
  Round dialled_ = 0;
  RoundReport report_;          // of the current round
  Clock::time_point boundary_;  // when it began
  StepAccount step_;            // likewise of it
  Clock::time_point rested_;    // since when, while it rests
  Staleness staleness_;
  std::optional<Rank> lost_peer_;
  absl::Status status_;    // of a request, except those to data_path_ and exchange_
  absl::Status observed_;  // the first error at a boundary

  mutable Mutex progress_mutex_;
  Progress progress_ ABSL_GUARDED_BY(progress_mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_RUNNER_H_
