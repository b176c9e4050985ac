// What a simulation that learns costs besides the gradients of its virtual nodes.
//
//   bazel run //bench:learning_cost [-- MODEL NODES ROUNDS [DATA [TOPOLOGY]]]
//   e.g. -- lenet5 16 100 synthetic torus
//
// One thread; the ratio is processor time of the run over that of all gradients.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "base/status.h"
#include "model/data/split.h"
#include "model/datasets/dataset_kind.h"
#include "model/problem/network_problem.h"
#include "optim/optimizer.h"
#include "run/timing/compute_time.h"
#include "sim/engine/replica_vectors.h"
#include "sim/engine/simulation.h"
#include "sim/network/network_plan.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

struct Options {
  std::string model = "lenet5";
  Rank nodes = 16;
  Round rounds = 100;
  std::string data = "synthetic";
  std::string topology = "torus";
};

double ProcessorSecondsSince(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Measures the time of another objective's gradients.
class TimedObjective final : public Objective {
 public:
  TimedObjective(std::unique_ptr<Objective> objective, double* seconds)
      : objective_(std::move(objective)), seconds_(seconds) {}

  const ReplicaLayout& layout() const override { return objective_->layout(); }
  void Initialize(float* replica) override { objective_->Initialize(replica); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    const std::clock_t begin = std::clock();
    absl::StatusOr<double> loss = objective_->Gradient(replica, round, gradient);
    *seconds_ += ProcessorSecondsSince(begin);
    return loss;
  }
  int64_t batch_size() const override { return objective_->batch_size(); }

 private:
  const std::unique_ptr<Objective> objective_;
  double* const seconds_;
};

absl::StatusOr<std::unique_ptr<NetworkProblem>> MakeProblem(const Options& options) {
  ASSIGN_OR_RETURN(TrainTest data, MakeDataset(options.data));
  ASSIGN_OR_RETURN(Shards shards, SplitOverNodes("iid", data.train->labels(), options.nodes, 1));
  return NetworkProblem::Make({.network = options.model,
                               .data = std::move(data),
                               .shards = std::move(shards),
                               .batch_size = 16,
                               .seed = 1});
}

absl::Status Measure(const Options& options) {
  ASSIGN_OR_RETURN(const auto problem, MakeProblem(options));
  ASSIGN_OR_RETURN(auto objectives, problem->MakeObjectives(0, options.nodes, {}));
  double gradients = 0;
  for (std::unique_ptr<Objective>& objective : objectives) {
    objective = std::make_unique<TimedObjective>(std::move(objective), &gradients);
  }
  ASSIGN_OR_RETURN(const auto optimizer, MakeOptimizer("sgd", {.momentum = 0.9}));
  ReplicaVectors vectors({.layout = &problem->layout(),
                          .optimizer = optimizer.get(),
                          .initialize =
                              [&](float* replica) {
                                problem->Initialize(replica);
                                return absl::OkStatus();
                              },
                          .objectives = std::move(objectives)});
  ASSIGN_OR_RETURN(const auto topology, MakeTopology(options.topology, options.nodes, 1));
  ASSIGN_OR_RETURN(const auto mixing, MakeMixing("metropolis", topology));
  ASSIGN_OR_RETURN(const auto plan, MakeNetworkPlan({.network = "switch", .nodes = options.nodes}));
  const FixedComputeTime compute(5'000'000);
  ASSIGN_OR_RETURN(
      const auto simulation,
      Simulation::Make({.nodes = options.nodes},
                       {.make_network = [&](AlarmClock* clock) { return plan.Make(clock); },
                        .make_algorithm =
                            [&](Rank rank) {
                              return MakeAlgorithm("dpsgd",
                                                   {.rank = rank,
                                                    .mixing = mixing,
                                                    .learning_rate = [](Round) { return 0.05; },
                                                    .window = 2});
                            },
                        .vectors = &vectors,
                        .compute = &compute}));
  const std::clock_t begin = std::clock();
  RETURN_IF_ERROR(simulation->Run(options.rounds));
  const double all = ProcessorSecondsSince(begin);
  std::printf("%s, %d nodes on a %s, %lld rounds: %.3f s, of it gradients %.3f s: ratio %.3f\n",
              options.model.c_str(), options.nodes, options.topology.c_str(),
              static_cast<long long>(options.rounds), all, gradients, all / gradients);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.model = argv[1];
  if (argc > 2) options.nodes = std::atoi(argv[2]);
  if (argc > 3) options.rounds = std::atoll(argv[3]);
  if (argc > 4) options.data = argv[4];
  if (argc > 5) options.topology = argv[5];
  const absl::Status status = Measure(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc, argv); }
