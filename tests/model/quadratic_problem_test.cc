#include "model/problem/quadratic_problem.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/status.h"

namespace grapevine {
namespace {

QuadraticProblemOptions Parse(const std::string& text) {
  const auto spec = ParseSpec(text);
  EXPECT_TRUE(spec.ok());
  const auto options = ParseQuadratic(*spec);
  EXPECT_TRUE(options.ok()) << options.status();
  return *options;
}

double Loss(const Problem& problem, const SharedVector& model) {
  const auto evaluator = problem.MakeEvaluator({}, {});
  EXPECT_TRUE(evaluator.ok());
  const auto evaluation = (*evaluator)->Evaluate(model);
  EXPECT_TRUE(evaluation.ok());
  EXPECT_FALSE(evaluation->accuracy.has_value());
  return *evaluation->loss;
}

TEST(QuadraticProblemTest, ReadsItsSpec) {
  const QuadraticProblemOptions defaults = Parse("quadratic");
  EXPECT_EQ(defaults.dimension, 100);
  EXPECT_EQ(defaults.spread, 0);
  const QuadraticProblemOptions options =
      Parse("quadratic:dim=7:curvature=2:noise=0.5:spread=3:start=-1");
  EXPECT_EQ(options.dimension, 7);
  EXPECT_EQ(options.curvature, 2);
  EXPECT_EQ(options.noise, 0.5);
  EXPECT_EQ(options.spread, 3);
  EXPECT_EQ(options.start, -1);
  for (const char* bad : {"quadratic:dim=0", "quadratic:noise=-1", "quadratic:curvature=0",
                          "quadratic:width=3", "quadratic:5"}) {
    EXPECT_EQ(FailureOf(ParseQuadratic(*ParseSpec(bad)).status()), Failure::kUsage) << bad;
  }
}

TEST(QuadraticProblemTest, WithoutSpreadTheOptimumIsZero) {
  QuadraticProblemOptions options = Parse("quadratic:dim=4:curvature=3:start=2");
  options.nodes = 5;
  const QuadraticProblem problem(options);
  const SharedVector model = NewSharedVector(problem.layout().size);
  problem.Initialize(model.data.get());
  EXPECT_DOUBLE_EQ(Loss(problem, model), 3.0 / 2 * 4 * 2 * 2);
}

// The loss is the mean of the nodes' objectives, less what it is at their optimum.
TEST(QuadraticProblemTest, TheLossIsTheExcessOfTheMeanObjective) {
  QuadraticProblemOptions options = Parse("quadratic:dim=10:spread=2:noise=1");
  options.nodes = 6;
  options.seed = 11;
  const QuadraticProblem problem(options);
  const auto objectives = problem.MakeObjectives(0, options.nodes, {});
  ASSERT_TRUE(objectives.ok());
  const SharedVector gradient = NewSharedVector(10);
  const auto mean_objective = [&](const SharedVector& model) {
    double sum = 0;
    for (const auto& objective : *objectives) {
      sum += *objective->Gradient(model.data.get(), 0, gradient.data.get());
    }
    return sum / options.nodes;
  };
  const SharedVector one = NewSharedVector(10), other = NewSharedVector(10);
  std::iota(one.data.get(), one.data.get() + 10, -3.0f);
  problem.Initialize(other.data.get());
  EXPECT_GT(Loss(problem, one), 0);
  EXPECT_NEAR(Loss(problem, one) - Loss(problem, other),
              mean_objective(one) - mean_objective(other), 1e-4);
}

TEST(QuadraticProblemTest, ANodeHasTheSameObjectiveWhoeverMakesIt) {
  QuadraticProblemOptions options = Parse("quadratic:dim=3:spread=1");
  options.nodes = 4;
  const QuadraticProblem problem(options);
  const auto all = problem.MakeObjectives(0, 4, {}), third = problem.MakeObjectives(2, 3, {});
  ASSERT_EQ(third->size(), 1u);
  const SharedVector at = NewSharedVector(3), a = NewSharedVector(3), b = NewSharedVector(3);
  problem.Initialize(at.data.get());
  EXPECT_EQ(*(*all)[2]->Gradient(at.data.get(), 5, a.data.get()),
            *third->front()->Gradient(at.data.get(), 5, b.data.get()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.data[i], b.data[i]);
  EXPECT_NE(*(*all)[1]->Gradient(at.data.get(), 5, a.data.get()),
            *(*all)[2]->Gradient(at.data.get(), 5, b.data.get()));
}

}  // namespace
}  // namespace grapevine
