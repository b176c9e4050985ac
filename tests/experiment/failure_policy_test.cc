// Which runs go on without nodes that are lost, where nobody says so.
#include "experiment/core/failure_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

Config ConfigWith(Settings settings) {
  settings.insert({{"nodes", "4"}, {"rounds", "9"}});
  const auto resolved = ResolveConfig({.flags = settings});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved.ok() ? resolved->config : Config();
}

bool GoesOn(const Settings& settings) { return GoesOnWithoutTheLost(ConfigWith(settings)); }

TEST(FailurePolicy, GossipAndWhoWaitsForNobodyGoOn) {
  for (const char* algorithm : {"dpsgd", "dpsgd:order=atc", "noloco:every=4", "sgp", "adpsgd",
                                "downpour", "ps:async", "easgd:async"}) {
    EXPECT_TRUE(GoesOn({{"algorithm", algorithm}})) << algorithm;
    EXPECT_FALSE(GoesOn({{"algorithm", algorithm}, {"on_failure", "end"}})) << algorithm;
  }
  for (const char* algorithm : {"allreduce", "ps", "ps:servers=2", "easgd"}) {
    EXPECT_FALSE(GoesOn({{"algorithm", algorithm}})) << algorithm;
  }
  EXPECT_TRUE(GoesOn({{"algorithm", "allreduce"}, {"on_failure", "shrink"}}));
}

TEST(FailurePolicy, WhatKeepsSomethingOfAllNodesEndsWithTheFirst) {
  const Settings keeping[] = {
      {{"checkpoint_every", "5"}}, {{"resume", "runs/a"}}, {{"record", "a.rec"}}};
  for (Settings settings : keeping) {
    EXPECT_FALSE(GoesOn(settings)) << settings.begin()->first;
    settings["on_failure"] = "shrink";
    EXPECT_TRUE(GoesOn(settings)) << settings.begin()->first;
  }
}

TEST(FailurePolicy, WhoAsksForItGoesOn) {
  const Settings asking[] = {{{"min_nodes", "2"}}, {{"max_restarts", "1"}}, {{"join", "true"}}};
  for (Settings settings : asking) {
    settings["algorithm"] = "allreduce";
    EXPECT_TRUE(GoesOn(settings)) << settings.begin()->first;
  }
}

TEST(FailurePolicy, WhatKeepsCheckpointsBeginsAgain) {
  const auto begins_again = [](Settings settings) {
    settings.insert({{"algorithm", "ps"}, {"max_restarts", "2"}, {"checkpoint_every", "5"}});
    const Config config = ConfigWith(settings);
    EXPECT_TRUE(CheckFailurePolicy(config, {}).ok());
    return BeginsAgain(config);
  };
  EXPECT_TRUE(begins_again({}));
  EXPECT_TRUE(begins_again({{"on_failure", "end"}}));
  EXPECT_TRUE(begins_again({{"algorithm", "dpsgd"}}));
  EXPECT_FALSE(begins_again({{"max_restarts", "0"}}));
}

TEST(FailurePolicy, WhoWaitsNeedsAllUnlessFewerAreSaid) {
  const Config waits = ConfigWith({{"on_failure", "wait"}});
  EXPECT_TRUE(GoesOnWithoutTheLost(waits));
  EXPECT_TRUE(WaitsForOthers(waits));
  EXPECT_EQ(LeastNodes(waits), 4);
  EXPECT_EQ(LeastNodes(ConfigWith({{"on_failure", "wait"}, {"min_nodes", "3"}})), 3);
  EXPECT_EQ(LeastNodes(ConfigWith({{"on_failure", "shrink"}})), std::nullopt);
  EXPECT_EQ(LeastNodes(ConfigWith({{"on_failure", "shrink"}, {"min_nodes", "1"}})), 1);
  EXPECT_FALSE(WaitsForOthers(ConfigWith({{"on_failure", "shrink"}})));
}

TEST(FailurePolicy, NamesWhatAsksForTheImpossible) {
  const auto complaint = [](const Settings& settings) {
    const absl::Status status = CheckFailurePolicy(ConfigWith(settings), {});
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(
      complaint({{"algorithm", "allreduce:torus:2x2"}, {"min_nodes", "2"}}),
      HasSubstr("--min-nodes=2: the nodes of --algorithm=allreduce:torus:2x2 cannot go on"));
  EXPECT_THAT(
      complaint({{"algorithm", "allreduce:torus:2x2"}, {"on_failure", "shrink"}}),
      HasSubstr("--on-failure=shrink: the nodes of --algorithm=allreduce:torus:2x2 cannot go on"));
  EXPECT_THAT(complaint({{"max_restarts", "2"}, {"record", "a.rec"}}),
              AllOf(HasSubstr("--max-restarts=2: a run with --record ends"),
                    HasSubstr("drop one of the two")));
  EXPECT_THAT(complaint({{"checkpoint_every", "5"}, {"max_restarts", "2"}, {"record", "a.rec"}}),
              HasSubstr("--max-restarts=2: a run that begins again cannot be recorded"));
  EXPECT_THAT(complaint({{"algorithm", "allreduce"}, {"max_restarts", "2"}}),
              HasSubstr("--max-restarts: nobody can come into a run of --algorithm=allreduce"));
  EXPECT_THAT(complaint({{"algorithm", "adpsgd"}, {"on_failure", "wait"}}),
              HasSubstr("--on-failure=wait: nobody can come into a run of --algorithm=adpsgd"));
  EXPECT_TRUE(
      CheckFailurePolicy(ConfigWith({{"resume", "runs/a"}, {"on_failure", "wait"}}), {}).ok());
  EXPECT_TRUE(CheckFailurePolicy(ConfigWith({}), {}).ok());
  EXPECT_TRUE(CheckFailurePolicy(ConfigWith({{"checkpoint_every", "5"}}), {}).ok());
}

}  // namespace
}  // namespace grapevine
