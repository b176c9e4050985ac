#include "node/gradient_worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

#include "tests/testing/function_objective.h"

namespace grapevine::testing {
namespace {

constexpr auto kDeadline = std::chrono::seconds(20);

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
  worker.Compute(at, into, round);
  EXPECT_EQ(future.wait_for(kDeadline), std::future_status::ready);
  return future.get();
}

TEST(GradientWorker, ComputesOnItsThreadAndReports) {
  FunctionObjective objective = Doubling();
  std::promise<GradientResult> promise;
  GradientWorker worker(&objective, 1, [&](GradientResult r) { promise.set_value(std::move(r)); });
  SharedVector at = NewSharedVector(3), into = NewSharedVector(3);
  std::ranges::fill(at.span(), 4.0f);
  for (Round round : {5, 6}) {
    const GradientResult result = Compute(worker, promise, at, into, round);
    EXPECT_EQ(result.round, round);
    EXPECT_EQ(*result.loss, 0.5);
    EXPECT_EQ(into.data[2], 8 + static_cast<float>(round));
    EXPECT_EQ(at.data.use_count(), 1) << "given back before the runner hears of it";
  }
}

TEST(GradientWorker, AStragglersDelayEndsWithTheWorker) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  std::promise<void> computing;
  // A gradient that takes a measurable time, stretched to what would be hours.
  FunctionObjective objective(
      0, layout, [&](Rank, Round, std::span<const float>, std::span<float>) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (std::chrono::steady_clock::now() < until) {
        }
        computing.set_value();
      });
  auto done = std::make_unique<std::promise<GradientResult>>();
  auto result = done->get_future();
  {
    GradientWorker worker(&objective, 1e7,
                          [&](GradientResult r) { done->set_value(std::move(r)); });
    worker.Compute(NewSharedVector(1), NewSharedVector(1), 0);
    ASSERT_EQ(computing.get_future().wait_for(kDeadline), std::future_status::ready);
  }
  ASSERT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_LT(result.get().seconds, 3600);
}

}  // namespace
}  // namespace grapevine::testing
