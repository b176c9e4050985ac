#include "report/target.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace grapevine {
namespace {

TEST(TargetOf, IsWhatWasAskedForOrWhatTheRunsHad) {
  Config with, without, other;
  with.set_target_accuracy(0.97);
  other.set_target_accuracy(0.98);
  const Config* const shared[] = {&without, &with, &with};
  EXPECT_EQ(*TargetOf("", shared), 0.97);
  EXPECT_EQ(*TargetOf("90%", shared), 0.9);
  const Config* const none[] = {&without};
  EXPECT_EQ(*TargetOf("", none), std::nullopt);
  const Config* const several[] = {&with, &other};
  const auto refused = TargetOf("", several);
  EXPECT_EQ(
      refused.status().message(),
      "the runs have several target accuracies (97 %, 98 %); choose one with --target-accuracy");
  EXPECT_EQ(FailureOf(refused.status()), Failure::kInput);
}

TEST(TargetOf, RefusesWhatIsNoAccuracy) {
  for (const char* text : {"high", "101%", "0", "-1"}) {
    const auto refused = TargetOf(text, {});
    EXPECT_TRUE(std::string(refused.status().message()).starts_with("--target-accuracy=")) << text;
    EXPECT_EQ(FailureOf(refused.status()), Failure::kUsage);
  }
}

TEST(FirstToMeet, IsTheFirstEvaluationThatDid) {
  std::vector<RunMetrics> metrics(4);
  metrics[1].test_accuracy = 0.8;
  metrics[2].test_accuracy = 0.9;
  metrics[3].test_accuracy = 0.95;
  EXPECT_EQ(FirstToMeet(0.9, metrics), &metrics[2]);
  EXPECT_EQ(FirstToMeet(0.96, metrics), nullptr);
}

}  // namespace
}  // namespace grapevine
