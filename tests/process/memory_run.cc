#include "tests/process/memory_run.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "experiment/core/experiment_results.h"
#include "node/runner/runner.h"
#include "node/transport/memory_transport.h"
#include "run/records/run_directory.h"

namespace grapevine::testing {
namespace {

// Keeps the last averaged model.
class LastAverage final : public RunObserver {
 public:
  absl::Status OnRound(const RoundReport&, const BoundaryModel&) override {
    return absl::OkStatus();
  }
  void OnAverage(AveragedModel average) override {
    last = std::move(average);
    runner->OnAverageDone();
  }
  Runner* runner = nullptr;
  AveragedModel last;
};

// The node of one rank.
class NodeInMemory {
 public:
  NodeInMemory(const Experiment& experiment, const RunCourse& course, Rank rank,
               std::unique_ptr<Algorithm> algorithm, std::unique_ptr<Objective> objective,
               std::shared_ptr<MemoryHub> hub)
      : experiment_(experiment),
        objective_(std::move(objective)),
        runner_({.rank = rank,
                 .workers = experiment.workers(),
                 .rounds = experiment.rounds(),
                 .limit = experiment.rounds(),
                 .evaluate = [&course](Round round) { return course.Evaluated(round); }},
                std::move(algorithm), objective_.get(), &experiment.layout(),
                &experiment.optimizer(), &observer_),
        transport_(std::move(hub), rank, &runner_) {
    observer_.runner = &runner_;
  }

  void Run() {
    status_ = runner_.Run(&transport_,
                          [this](float* replica) { return experiment_.Initialize(replica); });
    if (!status_.ok()) transport_.Shutdown();  // the others need not wait for this one
  }

  // After Run.
  const absl::Status& status() const { return status_; }
  const SharedVector& model() const { return runner_.model(); }
  const AveragedModel& average() const { return observer_.last; }
  int64_t bytes_sent() const { return transport_.counters().bytes_sent; }

 private:
  const Experiment& experiment_;
  LastAverage observer_;
  std::unique_ptr<Objective> objective_;  // null: a parameter server
  Runner runner_;
  MemoryTransport transport_;
  absl::Status status_;
};

using Nodes = std::vector<std::unique_ptr<NodeInMemory>>;

absl::StatusOr<Nodes> MakeNodes(const Experiment& experiment, const RunCourse& course) {
  auto hub = std::make_shared<MemoryHub>(experiment.config().nodes());
  Nodes nodes;
  for (Rank rank = 0; rank < experiment.config().nodes(); ++rank) {
    ASSIGN_OR_RETURN(std::unique_ptr<Algorithm> algorithm, experiment.MakeAlgorithm(rank, &course));
    // Those that are made together share memory, and belong to one thread.
    std::vector<std::unique_ptr<Objective>> objective(1);
    if (rank < experiment.workers()) {
      ASSIGN_OR_RETURN(objective, experiment.MakeObjectives(rank, rank + 1, {}, &course));
    }
    nodes.push_back(std::make_unique<NodeInMemory>(experiment, course, rank, std::move(algorithm),
                                                   std::move(objective.front()), hub));
  }
  return nodes;
}

absl::Status RunAll(const Nodes& nodes) {
  std::vector<std::thread> threads;
  for (const auto& node : nodes) threads.emplace_back([&node] { node->Run(); });
  for (std::thread& thread : threads) thread.join();
  absl::Status status;
  for (const auto& node : nodes) status.Update(node->status());
  return status;
}

}  // namespace

absl::StatusOr<int64_t> TrainInMemory(const Experiment& experiment, const std::string& run) {
  const std::unique_ptr<const RunCourse> course = experiment.NewCourse();
  ASSIGN_OR_RETURN(const Nodes nodes, MakeNodes(experiment, *course));
  RETURN_IF_ERROR(RunAll(nodes));
  for (Rank rank = 0; rank < experiment.workers(); ++rank) {
    ASSIGN_OR_RETURN(const std::string folder, CreateNodeDirectory(run, rank));
    RETURN_IF_ERROR(WriteNodeModel(experiment, rank, nodes[rank]->model(), folder));
  }
  RETURN_IF_ERROR(WriteAveragedModel(experiment, nodes.front()->average(), run));
  int64_t payload = 0;
  for (const auto& node : nodes) payload += node->bytes_sent();
  return payload;
}

}  // namespace grapevine::testing
