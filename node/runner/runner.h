// Drives one algorithm for real: the loop between a mailbox and a state machine.
//
// Transport threads, the gradient thread and the control connection only put
// items into the mailbox; the algorithm, all arithmetic of mixing and the model
// reduction run on the thread that calls Run. Who waits for too long is rank 0's to
// judge (coordinator.h), from what `progress` says.
#ifndef GRAPEVINE_NODE_RUNNER_RUNNER_H_
#define GRAPEVINE_NODE_RUNNER_RUNNER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/replica_layout.h"
#include "model/problem/objective.h"
#include "node/runner/boundary_model.h"
#include "node/runner/data_path.h"
#include "node/runner/gradient_computer.h"
#include "node/runner/gradient_worker.h"
#include "node/runner/mailbox.h"
#include "node/runner/model_reduction.h"
#include "node/runner/node_host.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/transport.h"
#include "optim/optimizer.h"
#include "system/mutex.h"

namespace grapevine {

// Where the time of one round went.
struct RoundReport {
  Round completed;          // rounds done, this one included
  double loss;              // of this node's batch; 0 for a parameter server
  double seconds;           // from boundary to boundary
  double gradient_seconds;  // on the gradient thread, in parallel
  double mix_seconds;       // arithmetic on the runner's thread
  int64_t mix_bytes;        // that it read and wrote
  int64_t bytes_sent;       // payload of the algorithm's messages, of all rounds completed
  int64_t bytes_received;   // likewise
};

// Called on the runner's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // An error ends the run.
  virtual absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) = 0;
  // Rank 0 only: the mean over all workers at an evaluation round. The next one is
  // computed once Runner::OnAverageDone says that this one is let go.
  virtual void OnAverage(AveragedModel average) = 0;
};

// What a node does at a moment, and for whom it waits: for heartbeats.
struct Progress {
  Round round = 0;  // completed
  std::string doing = "preparing";
  // Ranks without whose doing this node can do nothing more. None while it has work of
  // its own: a gradient, an evaluation that holds the run up, its part of a round.
  std::vector<Rank> waiting_for;
};

// `on_failure` ends the run, from any thread.
using MakeDataPath = std::function<absl::StatusOr<std::unique_ptr<DataPath>>(
    OnPass on_pass, std::function<void(absl::Status why)> on_failure)>;

struct RunnerOptions {
  Rank rank = 0;
  // The ranks below compute gradients and hold a model, of which the average is
  // taken; the others are parameter servers (algorithm/algorithm.h, WorkerCount).
  Rank workers = 1;
  // Rounds to do; `limit` < `rounds` when the end is not settled yet (SetLimit).
  Round rounds = 0;
  Round limit = 0;
  // Whether the averaged model is taken once `completed` rounds are done; the
  // same on all nodes.
  std::function<bool(Round completed)> evaluate;
  GradientPace pace = {};          // of this node's gradients; none: the time they take
  TraceRecorder* trace = nullptr;  // outlives the runner; may be null
  // Makes the way of the node's vectors; host memory where there is none.
  MakeDataPath data_path = {};
  // Makes what computes gradients; a thread of the runner's own where there is none.
  MakeGradients gradients = {};
  // The time of all that the runner measures and waits for in HandleMail.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class Runner final : public TransportSink {
 public:
  // All but the algorithm outlive the runner. The transport's sink is this
  // runner (see transport factories), and `transport` is set before Run. No
  // objective is needed where no gradients are computed.
  Runner(RunnerOptions options, std::unique_ptr<Algorithm> algorithm, Objective* objective,
         const ReplicaLayout* layout, const Optimizer* optimizer, RunObserver* observer);
  ~Runner() override;

  // Runs to the final limit, the last model reduction included. Errors carry a
  // Failure and name this rank, the round, the peer and the time.
  absl::Status Run(Transport* transport, std::function<absl::Status(float* replica)> initialize);

  // Run in steps, for a driver that has many runners on one thread: BeginRun, then
  // HandleMail whenever something may have come, until one of them fails or the runner
  // has finished; then EndRun.
  absl::Status BeginRun(Transport* transport,
                        std::function<absl::Status(float* replica)> initialize);
  // Handles what is in the mailbox now. Never blocks.
  absl::Status HandleMail();
  // Whether the final limit is reached, and the last reduction done.
  bool finished() const;
  // No gradient is under way after it.
  void EndRun();

  // Any thread:
  // Moves the limit; a final one is where Run returns.
  void SetLimit(Round limit, bool final);
  // The observer has let the last average go: memory for one suffices.
  void OnAverageDone();
  // Makes Run return `why`.
  void Abort(absl::Status why);
  Progress progress() const;

  // After Run failed: the peer at whose loss it ended, if that was why.
  std::optional<Rank> lost_peer() const { return lost_peer_; }
  // After Run returned OK: this node's model; empty for a parameter server.
  const SharedVector& model() const { return model_; }

  // TransportSink:
  void OnReceived(const Received& message) override;
  void OnSent(Rank to, Tag tag) override;
  void OnPeerFailed(Rank peer, const absl::Status& why) override;

 private:
  // A message has left.
  struct Departure {
    Rank to;
    Tag tag;
  };
  struct PeerFailure {
    Rank peer;
    absl::Status why;
  };
  struct LimitMoved {
    Round limit;
    bool final;
  };
  struct Abortion {
    absl::Status why;
  };
  struct AverageReturned {};
  struct DeviceFailed {
    absl::Status why;
  };
  using Item = std::variant<Received, Departure, GradientReady, GradientResult, LimitMoved,
                            AverageReturned, PeerFailure, DeviceFailed, Abortion>;
  using Clock = std::chrono::steady_clock;

  absl::Status Prepare(std::function<absl::Status(float* replica)> initialize);
  absl::Status Begin();
  absl::Status Loop();
  std::unique_ptr<GradientComputer> NewGradients();
  // Takes one item of mail as far as it goes.
  absl::Status Digest(Item item);
  absl::Status Handle(Item item);
  absl::Status OnMessage(const Received& received);
  absl::Status OnDeparture(const Departure& message);
  absl::Status OnGradient(const GradientResult& result);
  absl::Status Diverged(Round round);
  // Lets the reductions and the algorithm do all they can with what is here.
  absl::Status Pump();
  absl::Status AdvanceReductions();
  void AtBoundary(Round completed, Vec model);
  void AtRest(Vec model);
  void LeaveRest();
  // In host memory; no data where there is none. Errors go to observed_.
  SharedVector Fetch(Vec model);
  // Nothing could be done from `since` until `item` came.
  void TraceWait(Clock::time_point since, const Item& item);
  void DialAhead();
  absl::Status Explain(const PeerFailure& failure);
  absl::Status Explain(absl::Status why) const;
  absl::Status InRound(const absl::Status& why) const;
  // Whether this node's own evaluation holds the run up.
  bool AwaitsEvaluation() const;
  std::set<Rank> WaitingFor() const;
  Progress CurrentProgress() const;
  void Publish(Progress progress);

  const RunnerOptions options_;
  const std::unique_ptr<Algorithm> algorithm_;
  Objective* const objective_;
  const ReplicaLayout* const layout_;
  const Optimizer* const optimizer_;
  RunObserver* const observer_;

  Mailbox<Item> mailbox_;
  Transport* transport_ = nullptr;
  std::unique_ptr<DataPath> data_path_;
  std::unique_ptr<GradientComputer> gradients_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<ModelReduction> reduction_;

  struct DueReduction {
    Round round;
    SharedVector model;
  };
  std::deque<DueReduction> due_;  // begun one after the other
  std::deque<Event> held_;        // for the algorithm, once reductions have caught up

  Round limit_;
  bool limit_final_;
  bool resting_ = false;
  bool average_out_ = false;  // the observer holds one
  std::optional<Rank> lost_peer_;
  SharedVector model_;
  absl::Status observed_;  // the first error at a boundary
  double loss_ = 0;
  double gradient_seconds_ = 0;
  NodeHost::Arithmetic mix_before_;
  Clock::time_point boundary_;
  Round dialled_ = 0;

  mutable Mutex progress_mutex_;
  Progress progress_ ABSL_GUARDED_BY(progress_mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_RUNNER_H_
