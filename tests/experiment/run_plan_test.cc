#include "experiment/core/run_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/status.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

using Flags = std::map<std::string, std::string>;

// Of four nodes without data, all of which work.
absl::StatusOr<RunPlan> PlanOf(Flags flags) {
  flags.insert({"nodes", "4"});
  flags.insert({"batch", "1"});
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return PlanRun(resolved->config, /*workers=*/4, /*data=*/nullptr);
}

std::string PlanRefusal(const Flags& flags) {
  const absl::Status status = PlanOf(flags).status();
  if (status.ok()) return "no error";
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  return std::string(status.message());
}

// Every product of what a run counts is within 2^53, where integers and doubles agree.
TEST(PlanRun, IsNoLongerThanCanBeCounted) {
  const std::string of_four =
      ": 4 nodes compute more than 9007199254740992 samples, more than can be counted; make the "
      "run shorter, or lower --batch or --accumulate";
  EXPECT_EQ(PlanRefusal({{"rounds", "9000000000000000000"}}),
            "--rounds=9000000000000000000" + of_four);
  EXPECT_EQ(PlanRefusal({{"rounds", "2251799813685249"}}), "--rounds=2251799813685249" + of_four);
  EXPECT_EQ(PlanRefusal({{"rounds", "2251799813685248"}, {"accumulate", "2"}}),
            "--rounds=2251799813685248" + of_four);
  EXPECT_EQ(PlanRefusal({{"rounds", "2251799813685248"}, {"batch", "2"}}),
            "--rounds=2251799813685248" + of_four);
  EXPECT_EQ(PlanRefusal({{"rounds", "1"}, {"batch", "2000000000"}, {"accumulate", "2000000000"}}),
            "--rounds=1" + of_four);
  EXPECT_EQ(PlanRefusal({{"epochs", "1e300"}}), "--epochs=1e+300" + of_four);
  EXPECT_EQ(PlanOf({{"rounds", "2251799813685248"}})->rounds, 2251799813685248);
}

TEST(PlanRun, IsNoLongerThanCanBeCountedWhenTheBatchHasGrown) {
  const std::string refusal =
      PlanRefusal({{"rounds", "2251799813685248"}, {"batch_schedule", "step:at=1:factor=1000000"}});
  EXPECT_TRUE(refusal.starts_with("--rounds=2251799813685248: 4 nodes compute more than "))
      << refusal;
}

TEST(PlanRun, AGradientHasABoundedNumberOfPasses) {
  EXPECT_EQ(PlanRefusal({{"rounds", "3"}, {"accumulate", "2000000000"}}),
            "--accumulate=2000000000: a step would take 2000000000 gradients, and may take "
            "1000000; lower it");
  EXPECT_EQ(
      PlanRefusal(
          {{"rounds", "30"}, {"accumulate", "1000"}, {"batch_schedule", "step:at=1:factor=2000"}}),
      "--accumulate=1000 with --batch-schedule=step:at=1:factor=2000: a step would take "
      "2000000 gradients, and may take 1000000; lower either");
  EXPECT_EQ(PlanRefusal({{"rounds", "30"}, {"batch_schedule", "step:at=1:factor=2000000"}}),
            "--batch-schedule=step:at=1:factor=2000000: a step would take 2000000 gradients, and "
            "may take 1000000; lower it");
  EXPECT_EQ(PlanOf({{"rounds", "3"}, {"accumulate", "1000000"}})->MostPasses(), 1000000);
}

}  // namespace
}  // namespace grapevine
