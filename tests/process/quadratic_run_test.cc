// Quadratics learnt on graphs of unequal degree, and with weights that are not the
// default: the models that a run leaves, against a loop over W in double precision.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/spec.h"
#include "model/files/safetensors.h"
#include "model/problem/quadratic_problem.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/json_text.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

constexpr Rank kQuadraticNodes = WeightedGraph::kNodes;
constexpr Round kQuadraticRounds = 300;
constexpr uint64_t kSeed = 1;
constexpr double kStart = 2;
const char kModel[] = "quadratic:dim=5:noise=0:spread=1:start=2";

std::unique_ptr<Problem> Quadratics() {
  QuadraticProblemOptions options = *ParseQuadratic(*ParseSpec(kModel));
  options.nodes = kQuadraticNodes;
  options.seed = kSeed;
  return std::make_unique<QuadraticProblem>(options);
}

// The b_i: at 0 the gradient is -b_i.
Replicas Optima(const Problem& problem) {
  const std::vector<float> zero(static_cast<size_t>(problem.layout().size));
  std::vector<float> gradient = zero;
  Replicas optima;
  const auto objectives = problem.MakeObjectives(0, kQuadraticNodes, {});
  for (const auto& objective : *objectives) {
    EXPECT_TRUE(objective->Gradient(zero.data(), 0, gradient.data()).ok());
    optima.emplace_back();
    for (const float element : gradient) optima.back().push_back(-element);
  }
  return optima;
}

struct Learning {
  std::string command;  // train, or sim
  bool atc;
  WeightedGraph graph;
  friend std::ostream& operator<<(std::ostream& out, const Learning& learning) {
    return out << learning.command << " on " << learning.graph;
  }
};

Ended Learn(const Learning& learning, const std::string& out) {
  return RunGrapevine({learning.command, "--nodes=" + std::to_string(kQuadraticNodes),
                       std::string("--model=") + kModel, "--topology=" + learning.graph.topology,
                       "--mixing=" + learning.graph.mixing, "--window=4",
                       learning.atc ? "--algorithm=dpsgd:order=atc" : "--algorithm=dpsgd",
                       "--schedule=constant", "--lr=0.05", "--momentum=0.9",
                       "--rounds=" + std::to_string(kQuadraticRounds), "--eval-every=100",
                       "--seed=" + std::to_string(kSeed), "--out=" + out});
}

Replicas Expected(const Learning& learning, const Problem& problem) {
  const auto size = static_cast<size_t>(problem.layout().size);
  return After(kQuadraticRounds,
               {.w = learning.graph.w,
                .atc = learning.atc,
                .learning_rate = 0.05,
                .momentum = 0.9,
                .optima = Optima(problem)},
               Replicas(kQuadraticNodes, std::vector<double>(size, kStart)));
}

std::vector<float> Model(const std::string& out, Rank rank, const ReplicaLayout& layout) {
  std::vector<float> model(static_cast<size_t>(layout.size));
  const auto file = Safetensors::Open(out + "/node-" + std::to_string(rank) + "/model.safetensors");
  EXPECT_TRUE(file.ok()) << file.status();
  if (file.ok()) {
    EXPECT_TRUE(file->Load(layout, model.data()).ok());
  }
  return model;
}

class QuadraticRun : public ::testing::TestWithParam<Learning> {};

TEST_P(QuadraticRun, EndsWhereALoopOverWDoes) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended ended = Learn(GetParam(), out);
  ASSERT_EQ(ended.exit_code, 0) << ended.output;

  const std::unique_ptr<Problem> problem = Quadratics();
  const Replicas expected = Expected(GetParam(), *problem);
  for (Rank rank = 0; rank < kQuadraticNodes; ++rank) {
    const std::vector<float> model = Model(out, rank, problem->layout());
    for (size_t e = 0; e < model.size(); ++e) {
      EXPECT_NEAR(model[e], expected[rank][e], 1e-5) << "rank " << rank;
    }
  }
  // No node counts for more than another, whatever its degree: the average is where the
  // mean of all objectives is smallest, though no node is.
  const auto summary = SummaryOf(out);
  EXPECT_LT(summary.at("test_loss"), 1e-9);
  EXPECT_GT(summary.at("consensus_distance"), 0.1);
}

// Simulated in both orders; for real in one, by turns.
std::vector<Learning> Runs() {
  std::vector<Learning> runs;
  bool atc = false;
  for (const WeightedGraph& graph : WeightedGraphs()) {
    runs.push_back({"sim", false, graph});
    runs.push_back({"sim", true, graph});
    runs.push_back({"train", atc, graph});
    atc = !atc;
  }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(Graphs, QuadraticRun, ::testing::ValuesIn(Runs()), [](const auto& info) {
  return info.param.command + (info.param.atc ? "_atc_" : "_awc_") + info.param.graph.name;
});

}  // namespace
}  // namespace grapevine::testing
