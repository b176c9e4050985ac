#include "node/runner/evaluation_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace grapevine {
namespace {

TEST(EvaluationThread, EvaluatesInOrderLetsGoAndDrains) {
  std::vector<Round> seen;
  std::weak_ptr<float[]> held;
  int done = 0;
  EvaluationThread thread(
      [&](const AveragedModel& model) {
        seen.push_back(model.round);
        held = model.model.data;
        return absl::OkStatus();
      },
      [&] {
        EXPECT_TRUE(held.expired());
        ++done;
      },
      [](const absl::Status&) { FAIL(); });
  for (Round round = 1; round <= 20; ++round) {
    thread.Submit({.round = round, .model = NewSharedVector(1)});
  }
  ASSERT_TRUE(thread.Drain().ok());
  ASSERT_EQ(seen.size(), 20u);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<Round>(i + 1));
  EXPECT_EQ(done, 20);
}

TEST(EvaluationThread, TheFirstErrorIsReportedAndEndsTheWait) {
  std::promise<absl::Status> told;
  EvaluationThread thread([](const AveragedModel&) { return absl::DataLossError("broken"); },
                          [] { FAIL(); }, [&](const absl::Status& why) { told.set_value(why); });
  thread.Submit({.round = 1, .model = {}});
  EXPECT_EQ(told.get_future().get().message(), "broken");
  EXPECT_EQ(thread.Drain().code(), absl::StatusCode::kDataLoss);
}

TEST(EvaluationThread, ABusyEvaluationHoldsTheSubmitterBack) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> evaluated = 0;
  EvaluationThread thread(
      [&](const AveragedModel&) {
        released.wait();
        ++evaluated;
        return absl::OkStatus();
      },
      [] {}, [](const absl::Status&) {});
  auto submitter = std::async(std::launch::async, [&] {
    for (Round round = 1; round <= 4; ++round) thread.Submit({.round = round, .model = {}});
  });
  EXPECT_EQ(evaluated, 0);
  release.set_value();
  submitter.get();
  ASSERT_TRUE(thread.Drain().ok());
  EXPECT_EQ(evaluated, 4);
}

}  // namespace
}  // namespace grapevine
