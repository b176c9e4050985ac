#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "node/runner/node_gradients.h"
#include "tests/testing/function_objective.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

const auto kDeadline = Patient(std::chrono::seconds(20));

FunctionObjective Doubling() {
  ReplicaLayout layout;
  layout.AddParameter("x", {3});
  return FunctionObjective(0, layout,
                           [](Rank, Round round, std::span<const float> x, std::span<float> g) {
                             for (size_t i = 0; i < x.size(); ++i) {
                               g[i] = 2 * x[i] + static_cast<float>(round);
                             }
                           });
}

GradientResult Compute(GradientWorker& worker, std::promise<GradientResult>& promise,
                       SharedVector at, SharedVector into, Round round) {
  promise = {};
  auto future = promise.get_future();
  worker.Compute(at, into, round, {});
  EXPECT_EQ(future.wait_for(kDeadline), std::future_status::ready);
  return future.get();
}

TEST(GradientWorker, ComputesOnItsThreadAndReports) {
  FunctionObjective objective = Doubling();
  std::promise<GradientResult> promise;
  GradientWorker worker(&objective, {},
                        {[&](GradientResult r) { promise.set_value(std::move(r)); }});
  SharedVector at = NewSharedVector(3), into = NewSharedVector(3);
  std::ranges::fill(at.span(), 4.0f);
  for (Round round : {5, 6}) {
    const GradientResult result = Compute(worker, promise, at, into, round);
    EXPECT_EQ(result.round, round);
    EXPECT_EQ(*result.loss, 0.5);
    EXPECT_LE(result.begin, result.end);
    EXPECT_EQ(into.data[2], 8 + static_cast<float>(round));
    EXPECT_EQ(at.data.use_count(), 1) << "given back before the runner hears of it";
  }
}

TEST(GradientWorker, TakesAtLeastTheTimeOfItsPace) {
  FunctionObjective objective = Doubling();
  std::promise<GradientResult> promise;
  const GradientPace pace = [](Round round, std::chrono::nanoseconds computed) {
    EXPECT_GE(computed.count(), 0);
    return computed + std::chrono::milliseconds(round);
  };
  GradientWorker worker(&objective, pace,
                        {[&](GradientResult r) { promise.set_value(std::move(r)); }});
  for (Round round : {0, 7, 1}) {
    const GradientResult result =
        Compute(worker, promise, NewSharedVector(3), NewSharedVector(3), round);
    EXPECT_GE(result.end - result.begin, std::chrono::milliseconds(round));
  }
}

// Gradients of four elements, the last two of which are ready first.
class PartsOfAGradient : public ::testing::TestWithParam<bool> {};

TEST_P(PartsOfAGradient, ComeInOrderBeforeTheWhole) {
  ReplicaLayout layout;
  layout.AddParameter("x", {4});
  FunctionObjective objective(
      0, layout,
      [](Rank, Round, std::span<const float>, std::span<float> g) { std::ranges::fill(g, 3.0f); });
  GradientPace pace;
  if (GetParam()) {
    pace = [](Round, std::chrono::nanoseconds) { return std::chrono::milliseconds(20); };
  }
  std::promise<GradientResult> promise;
  std::vector<int64_t> parts;
  std::vector<std::chrono::steady_clock::time_point> times;
  const SharedVector into = NewSharedVector(4);
  GradientWorker worker(&objective, pace,
                        {[&](GradientResult r) { promise.set_value(std::move(r)); },
                         [&](GradientReady part) {
                           EXPECT_EQ(part.round, 7);
                           EXPECT_EQ(into.data[part.from], 3);
                           parts.push_back(part.from);
                           times.push_back(std::chrono::steady_clock::now());
                         }});
  auto future = promise.get_future();
  worker.Compute(NewSharedVector(4), into, 7, {3, 2, 1});
  ASSERT_EQ(future.wait_for(kDeadline), std::future_status::ready);
  const GradientResult result = future.get();
  if (GetParam()) {
    EXPECT_EQ(parts, (std::vector<int64_t>{3, 2, 1})) << "all that is asked for, at their time";
    EXPECT_GE(times[0] - result.begin, std::chrono::milliseconds(10));
    EXPECT_GE(times[2] - result.begin, std::chrono::milliseconds(20));
  } else {
    EXPECT_EQ(parts, (std::vector<int64_t>{3, 2})) << "the rest comes with the whole";
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPace, PartsOfAGradient, ::testing::Bool());

TEST(GradientWorker, AStragglersDelayEndsWithTheWorker) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  std::promise<void> computing;
  FunctionObjective objective(
      0, layout,
      [&](Rank, Round, std::span<const float>, std::span<float>) { computing.set_value(); });
  auto done = std::make_unique<std::promise<GradientResult>>();
  auto result = done->get_future();
  {
    GradientWorker worker(&objective,
                          [](Round, std::chrono::nanoseconds) { return std::chrono::hours(10); },
                          {[&](GradientResult r) { done->set_value(std::move(r)); }});
    worker.Compute(NewSharedVector(1), NewSharedVector(1), 0, {});
    ASSERT_EQ(computing.get_future().wait_for(kDeadline), std::future_status::ready);
  }
  ASSERT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  const GradientResult ended = result.get();
  EXPECT_LT(ended.end - ended.begin, std::chrono::hours(1));
}

}  // namespace
}  // namespace grapevine::testing
