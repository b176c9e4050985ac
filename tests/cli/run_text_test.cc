#include "cli/terminal/run_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "experiment/core/experiment.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string OpeningOf(std::map<std::string, std::string> flags) {
  flags.insert({{"model", "softmax"},
                {"data", "synthetic:train=1024:test=200"},
                {"nodes", "4"},
                {"batch", "64"},
                {"epochs", "10"},
                {"lr", "0.1"}});
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  const auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return Opening(**experiment);
}

TEST(OpeningTest, SaysTheGlobalBatchAndWhichRateFollowsFromIt) {
  EXPECT_THAT(OpeningOf({{"scale_lr", "linear:base=32"}}),
              HasSubstr("batch 64 x 4 nodes = 256, 40 rounds (10 epochs)\n"
                        "learning rate 0.1 x 8 = 0.8: linear:base=32, for a batch of 256 "
                        "(base 32)\n"));
  EXPECT_THAT(OpeningOf({}), Not(HasSubstr("learning rate")));
  EXPECT_THAT(OpeningOf({{"batch", "8"}, {"accumulate", "4"}}),
              HasSubstr("batch 8 x 4 accumulated x 4 nodes = 128, 80 rounds (10 epochs)\n"));
  EXPECT_THAT(OpeningOf({{"batch", "8"}, {"batch_schedule", "step:at=5:factor=4"}}),
              HasSubstr("batch 8 x 4 nodes = 32, growing to 128, 200 rounds (10 epochs)\n"));
  EXPECT_THAT(OpeningOf({{"batch", "8"}, {"batch_schedule", "plateau:factor=4:most=1"}}),
              HasSubstr("batch 8 x 4 nodes = 32, growing at plateaus up to 128, at most 320 rounds "
                        "(10 epochs)\n"));
}

TEST(ConclusionTest, SaysWhoWasLost) {
  Summary summary{.nodes = 8};
  EXPECT_THAT(Conclusion(summary), Not(HasSubstr("at the end")));
  summary.living = 7;
  summary.membership.emplace();
  summary.membership->push_back({.round = 52, .lost = {3}, .joined = {}});
  EXPECT_THAT(Conclusion(summary),
              HasSubstr("\n7 of 8 nodes at the end: without rank 3 from round 52 on"));
  for (int round = 60; round < 70; ++round) {
    summary.membership->push_back({.round = round, .lost = {1}, .joined = {3}});
  }
  EXPECT_THAT(Conclusion(summary), HasSubstr("; without rank 1 and with rank 3 from round 64 on; "
                                             "5 more changes"));
}

TEST(ConclusionTest, NamesTheServerWhoseLinkCarriedTheMost) {
  Summary summary{.workers = 4, .simulated_time_s = 2};
  EXPECT_THAT(Conclusion(summary), Not(HasSubstr("server")));
  summary.server_links = ServerLinks{.bytes_sent = {5'000'000, 1'000'000, 3'000'000},
                                     .bytes_received = {5'000'000, 6'000'000, 3'000'000}};
  EXPECT_THAT(Conclusion(summary), HasSubstr("\nbusiest server's link: rank 5, 6.00 MB received, "
                                             "1.00 MB sent (3.00 MB/s one way)"));
  summary.simulated_time_s = 0;
  EXPECT_THAT(Conclusion(summary), HasSubstr("1.00 MB sent"));
  EXPECT_THAT(Conclusion(summary), Not(HasSubstr("one way")));
}

TEST(StepsTextTest, SaysWhereTheTimeWentAndWhoIsSlow) {
  Summary summary;
  EXPECT_EQ(StepsText(summary), "");
  summary.steps =
      StepMeans{.count = 40, .mean_s = 0.02, .gradient_s = 0.01, .mix_s = 0.001, .wait_s = 0.009};
  EXPECT_EQ(StepsText(summary),
            "a step takes 20.0 ms on average\n"
            "of it: gradient 50.0 %, mixing 5.0 %, waiting 45.0 %\n");
  summary.slowest_node = {
      .rank = 2,
      .steps = {.count = 10, .mean_s = 0.02, .gradient_s = 0.018, .mix_s = 0.001, .wait_s = 0.001}};
  EXPECT_THAT(
      StepsText(summary),
      HasSubstr("\nthe slowest node is rank 2: 19.0 ms of work in a step (gradient 18.0 ms, "
                "mixing 1.00 ms), 11.0 ms on average of all\n"));
}

TEST(StepsTextTest, NamesTheLongestWaits) {
  Summary summary;
  summary.longest_waits.emplace();
  summary.steps = StepMeans{.count = 1, .mean_s = 1};
  EXPECT_THAT(StepsText(summary), Not(HasSubstr("waited longest")));
  summary.longest_waits = {{.rank = 3, .peer = 7, .seconds = 12.1}};
  EXPECT_THAT(StepsText(summary),
              HasSubstr("\nwho waited longest for whom: rank 3 for rank 7, 12.1 s\n"));
  for (int peer = 0; peer < 5; ++peer) {
    summary.longest_waits->push_back({.rank = 1, .peer = peer, .seconds = 2});
  }
  EXPECT_THAT(StepsText(summary),
              HasSubstr("rank 3 for rank 7, 12.1 s; rank 1 for rank 0, 2.00 s; rank 1 for rank 1, "
                        "2.00 s\n"));
}

TEST(StepsTextTest, OfStepsThatTakeNoTimeThereIsNoShare) {
  Summary summary;
  summary.steps = StepMeans{.count = 1};
  summary.slowest_node = SlowestNode{};
  EXPECT_EQ(StepsText(summary), "a step takes 0 ns on average\n");
}

}  // namespace
}  // namespace grapevine
