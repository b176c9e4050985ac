// One node of a simulated run: production's runner, links, conversations and control line, in
// virtual time.
//
// What NodeSession does with waiting threads is done here after each event. A node outlives its
// process, since others may still inspect it.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NODE_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NODE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/membership/view_mixing.h"
#include "experiment/core/run_course.h"
#include "node/control/checkpoint_desk.h"
#include "node/control/control_line.h"
#include "node/identity/authentication.h"
#include "node/life/decrees.h"
#include "node/life/role/role_search.h"
#include "node/runner/runner.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"
#include "run/checkpoint/node_state.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/run_plan.h"
#include "tests/node/whole_node/simulated_coordinator.h"
#include "tests/node/whole_node/simulated_network.h"
#include "tests/node/whole_node/simulated_port_watch.h"
#include "tests/node/whole_node/simulated_program.h"
#include "tests/node/whole_node/simulated_role.h"
#include "tests/node/whole_node/simulated_store.h"
#include "tests/node/whole_node/simulated_transport.h"
#include "tests/testing/function_objective.h"

namespace grapevine::testing {

class SimulatedNode final : public RunObserver {
 public:
  // What all nodes of a run share; outlives them.
  struct World {
    const RunPlan* plan;
    SimulatedNetwork* network;
    SimulatedStore* store;
    std::vector<Process*> processes;
    std::function<void(const std::string&)> log;
  };

  // `life`: how many processes of this rank there were before; it then comes into a run that is
  // under way.
  SimulatedNode(const World* world, Rank rank, int life = 0);
  ~SimulatedNode() override;

  // Starts the process.
  void Start();
  // Tells it to end, as a signal does.
  void Interrupt(absl::Status why);
  // The same with a checkpoint, once it has joined.
  void EndWithCheckpoint(absl::Status why);

  // What the process ended with, once it has ended.
  const std::optional<absl::Status>& ending() const { return ending_; }
  // When it ended.
  SteadyTime ended_at() const { return ended_at_; }
  // "training, round 3": for nodes that did not end.
  std::string State() const;
  Round round() const { return runner_ ? runner_->progress().round : 0; }
  std::span<const float> model() const { return runner_->model().span(); }
  // That it has computed.
  int64_t gradients() const { return gradients_; }
  // The rounds before which its program had ended; none if it has not.
  std::optional<Round> spent() const { return spent_; }
  // The batch that each of them was of, in first ones.
  const std::vector<int64_t>& batches() const { return batches_; }
  const std::vector<AveragedModel>& averages() const { return averages_; }
  // Those of which another has told.
  const std::vector<AveragedModel>& told() const { return told_; }
  // After which rounds it has saved what it has.
  const std::vector<Round>& saved() const { return saved_; }
  // Where nodes go through no rounds together: what it has saved, by checkpoints.
  const std::map<Round, NodeState>& states() const { return states_; }
  // Whether it has had rank 0's role.
  bool coordinates() const { return coordinator_ != nullptr; }
  const SimulatedRole& role() const { return role_; }
  // Whether it has ended the run well for all who are in it.
  bool has_concluded() const { return concluded_; }
  // At rank 0: the checkpoints that are complete, in order.
  const std::vector<CheckpointDesk::Complete>& checkpoints() const { return checkpoints_; }
  // At rank 0: the rounds that each rank has reported, in the order of arrival.
  const std::vector<std::vector<Round>>& reported() const { return reported_; }

  static constexpr int64_t kParameters = 13;
  static constexpr int64_t kBuffers = 2;

  // RunObserver:
  absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) override;
  void OnAverage(AveragedModel average) override;
  absl::Status OnCut(const CutReport& report, const BoundaryModel& model) override;
  void OnSteps(const StepsReport& report) override;
  void OnState(SavedNode saved) override;
  void OnToldAverage(const AveragedModel& average) override;
  void OnNoAverage(Round round) override;
  void OnPeerLost(Rank peer, const absl::Status& why) override;
  void OnPromise(uint32_t ballot, Round round) override;

 private:
  enum class Stage { kJoining, kTraining, kTrained, kDone, kAsking, kLeaving, kEnded };

  const RunPlan& plan() const { return *world_->plan; }
  Process* process() const { return process_; }
  // Whether it begins the run, as its first coordinator.
  bool begins() const { return rank_ == 0 && life_ == 0; }
  uint64_t nonce() const {
    return static_cast<uint64_t>(rank_) + 1 + 1000 * static_cast<uint64_t>(life_);
  }
  SteadyTime now() const { return process()->now(); }
  void Say(const std::string& what);

  std::unique_ptr<Algorithm> NewAlgorithm();
  const Fault* Planned(Fault::Kind kind) const;
  void MakeObjective();
  void MakeRunner();
  std::unique_ptr<GradientComputer> Gradients(GradientReports reports);
  // Its program has given its last gradient.
  void OnSpent(Round gradients, bool all);
  void MakeTransport();
  void MakeCoordinator(std::optional<SuccessionOptions> succession);
  std::optional<CheckpointCallsOptions> Checkpoints() const;
  std::optional<RenewalsOptions> Renewed() const;
  // Rank 0: a node has its part of a checkpoint.
  void OnPart(Rank rank, const control::SavedPart& part);
  void TakeCheckpoints();
  // Writes the manifest of a checkpoint, once this node may act for the run.
  void WriteManifest(Round round, int looks);
  // Whether the plan has nodes save by themselves.
  std::function<bool(Round)> Saved() const;
  RunToken Token() const;
  control::Registration Registration() const;
  control::Heartbeat Heartbeat() const;

  void Connect();
  void OnControlClosed(const Connection* connection, const absl::Status& why);
  absl::Status NotReached() const;
  // Something that must come; something of the moment.
  void Tell(control::Report report);
  void Report(const control::Report& report);
  void ReportFailure(Rank culprit, const absl::Status& why);
  void SchedulePulse();

  // Who has the role that has moved; then it starts.
  void FindCoordinator();
  void StartWith(Rank holder);
  // Whether it may act for the run at this moment.
  bool MayAct() const;
  // How often it looks whether it may, before it gives up. Time would go on while it stands still.
  int Looks() const;
  // Ends the run once it may act, and has all results.
  void Conclude(int looks);
  void End();
  // The coordinator is lost: who has the role now, or takes it.
  void SeekCoordinator();
  void LookAtClaim();
  void LookAtHolder();
  void LookAtEnd(RoleSearch::Seen seen);
  void SeekLater();
  void OnSeen(const std::optional<RoleSearch::Seen>& seen);
  void ReleaseRole(uint64_t tenure);
  void TakeRole();
  void BecomeCoordinator();
  void GoOnWith(Rank holder);
  // What the lost coordinator has said is of no use without it.
  void GiveUpCoordinator();

  // Takes the next steps, after any event.
  void Live();
  void HearControl();
  void MakeDecrees();
  void Join();
  void Begin();
  void Train();
  void FinishTraining();
  void Evaluate(std::chrono::nanoseconds time, std::function<void()> then);
  void SayDone();
  void Fail(absl::Status symptom);
  void Leave(absl::Status status);
  void Depart();
  void TryToGo();
  void EndWith(absl::Status status);

  const World* const world_;
  const Rank rank_;
  const int life_;
  Process* const process_;
  KeyedRandom random_;
  bool live_planned_ = false;
  bool lived_ = false;  // the latest event was Live itself

  std::unique_ptr<SimulatedCoordinator> coordinator_;
  std::unique_ptr<FunctionObjective> objective_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<ViewMixing> views_;          // of a resilient run
  std::unique_ptr<SimulatedProgram> program_;  // of an open-ended one
  std::unique_ptr<Runner> runner_;
  std::optional<Decrees> decrees_;
  std::unique_ptr<SimulatedTransport> transport_;
  std::optional<ControlLine> line_;
  std::optional<SimulatedPortWatch> rank_zero_watch_;
  std::shared_ptr<Connection> control_;
  SimulatedRole role_;
  uint64_t known_ = 1;  // tenure of the coordinator that it has
  uint64_t tenures_ = 0;
  SimulatedStore::Claim claim_;  // as it last looked at it
  absl::Status found_end_;       // in the store
  bool seeking_ = false;
  Round limit_ = 0;                   // of the run, as it was last told
  std::optional<RoleSearch> search_;  // while it seeks
  std::string last_error_ = "no answer";

  Stage stage_ = Stage::kJoining;
  SteadyTime deadline_;  // of the stage, where it has one
  bool verdict_heard_ = false;
  bool trained_ = false;
  bool concluded_ = false;
  bool told_store_ = false;          // that it leaves, and how the run has ended
  bool departing_ = false;           // rank 0 has waited for the others
  std::optional<absl::Status> end_;  // of the run or by a signal
  absl::Status status_;              // what it fails or leaves with
  std::optional<absl::Status> ending_;
  SteadyTime ended_at_;
  int64_t gradients_ = 0;
  std::optional<Round> spent_;
  std::vector<int64_t> batches_;
  int evaluating_ = 0;
  int64_t evaluated_batches_ = 0;
  RunCourse course_;
  RunHorizon horizon_;  // rank 0's
  Round evaluates_from_ = 0;
  std::vector<AveragedModel> averages_;
  std::vector<AveragedModel> told_;
  std::vector<std::vector<Round>> reported_;
  std::vector<Round> saved_;
  std::map<Round, NodeState> states_;
  std::optional<CheckpointDesk> desk_;  // rank 0's
  std::vector<CheckpointDesk::Complete> checkpoints_;
  SteadyTime written_;  // the last of them
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NODE_H_
