// Simulated runs that lose nodes and go on: --chaos=kill with --on-failure=shrink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_run.h"
#include "random/keyed_random.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::UnorderedElementsAre;
using Settings = std::map<std::string, std::string>;

struct MortalResult {
  absl::StatusOr<Summary> summary;
  std::vector<int64_t> living;  // of each measurement; all: 8
  std::vector<int64_t> bytes;   // bytes_sent_total of each
  std::vector<double> epochs;   // of each
};

MortalResult RunMortals(Settings settings, const std::string& folder) {
  settings.insert({{"nodes", "8"},
                   {"model", "softmax"},
                   {"data", "synthetic:train=512:test=256"},
                   {"compute", "1ms"},
                   {"batch", "8"},
                   {"rounds", "80"},
                   {"log_every", "20"},
                   {"on_failure", "shrink"}});
  MortalResult result;
  const auto resolved = ResolveConfig({.flags = settings});
  if (!resolved.ok()) return {resolved.status()};
  const auto experiment = Experiment::Build(resolved->config);
  if (!experiment.ok()) return {experiment.status()};
  std::filesystem::create_directories(folder);
  result.summary =
      SimulatedRun(experiment->get(), {.run_directory = folder,
                                       .on_metrics =
                                           [&](const RunMetrics& metrics) {
                                             result.living.push_back(metrics.living.value_or(8));
                                             result.bytes.push_back(*metrics.bytes_sent_total);
                                             result.epochs.push_back(metrics.epoch);
                                           }})
          .Run();
  return result;
}

// Over the whole run, whether they came back or not.
std::vector<int64_t> LostIn(const Summary& summary) {
  std::vector<int64_t> lost;
  if (!summary.membership) return lost;
  for (const MembershipChange& change : *summary.membership) {
    lost.insert(lost.end(), change.lost.begin(), change.lost.end());
  }
  return lost;
}

std::string NodeModel(const std::string& run, Rank rank) {
  return run + "/node-" + std::to_string(rank) + "/model.safetensors";
}

TEST(ShrinkingRuns, NothingThatBefallsTheDeadEndsThem) {
  const ScratchFolder folder;
  const MortalResult result = RunMortals(
      {{"chaos", "kill:rank=3:at=round:5,disk-full:rank=3:at=round:4,cut:edge=2-3:at=40ms"}},
      folder.File("run"));
  EXPECT_FALSE(result.summary.ok()) << "a node whose disk is full is not dead";
  const MortalResult dead = RunMortals(
      {{"chaos", "kill:rank=3:at=round:5,disk-full:rank=3:at=40ms,cut:edge=2-3:at=40ms"}},
      folder.File("dead"));
  EXPECT_TRUE(dead.summary.ok()) << dead.summary.status();
}

TEST(ShrinkingRuns, GoOnWithoutThoseWhoDie) {
  const ScratchFolder folder;
  const MortalResult whole = RunMortals({}, folder.File("whole"));
  const std::string run = folder.File("run");
  const MortalResult result = RunMortals(
      {{"chaos", "kill:rank=0:at=round:25,kill:rank=3:at=round:45,kill:rank=5:at=50ms"}}, run);
  ASSERT_TRUE(whole.summary.ok()) << whole.summary.status();
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_THAT(whole.living, Each(8));
  EXPECT_EQ(result.living.front(), 8);
  EXPECT_EQ(result.living.back(), 5);
  EXPECT_EQ(result.summary->rounds, 80);
  EXPECT_EQ(result.summary->living, 5);
  EXPECT_THAT(LostIn(*result.summary), UnorderedElementsAre(0, 3, 5));
  EXPECT_FALSE(whole.summary->membership.has_value());
  EXPECT_TRUE(std::ranges::is_sorted(result.bytes)) << "what the lost have sent was sent";
  EXPECT_LT(result.bytes.back(), whole.bytes.back());
  EXPECT_LT(*result.summary->evaluation_bytes_sent_total,
            *whole.summary->evaluation_bytes_sent_total);
  EXPECT_NEAR(*result.summary->test_accuracy, *whole.summary->test_accuracy, 0.05);
  for (const Rank lost : {0, 3, 5}) EXPECT_FALSE(std::filesystem::exists(NodeModel(run, lost)));
  for (const Rank left : {1, 2, 4, 6, 7})
    EXPECT_TRUE(std::filesystem::exists(NodeModel(run, left)));
}

TEST(ShrinkingRuns, GrowAgainWhenTheDeadComeBack) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const MortalResult result = RunMortals(
      {{"rounds", "400"},
       {"chaos", "kill:rank=0:at=round:25:back=20ms,kill:rank=3:at=round:145:back=40ms"}},
      run);
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_EQ(result.living.front(), 8);
  EXPECT_LT(*std::ranges::min_element(result.living), 8);
  EXPECT_EQ(result.living.back(), 8);
  EXPECT_EQ(result.summary->living, 8);
  EXPECT_THAT(LostIn(*result.summary), UnorderedElementsAre(0, 3));
  EXPECT_TRUE(std::ranges::is_sorted(result.bytes));
  for (Rank rank = 0; rank < 8; ++rank) {
    EXPECT_TRUE(std::filesystem::exists(NodeModel(run, rank))) << rank;
  }
  EXPECT_GT(*result.summary->test_accuracy, 0.5);
}

// Whoever is lost, as soon as it is: nobody has gone far without it.
TEST(ShrinkingRuns, WaitForTheDeadWhereAllAreNeeded) {
  const ScratchFolder folder;
  const Settings chaos = {
      {"chaos", "kill:rank=0:at=round:25:back=20s,kill:rank=3:at=round:45:back=30s"}};
  Settings waits = chaos;
  waits["on_failure"] = "wait";
  const MortalResult shrunk = RunMortals(chaos, folder.File("shrunk"));
  const MortalResult whole = RunMortals(waits, folder.File("run"));
  ASSERT_TRUE(shrunk.summary.ok()) << shrunk.summary.status();
  ASSERT_TRUE(whole.summary.ok()) << whole.summary.status();
  EXPECT_LT(*shrunk.summary->simulated_time_s, 20) << "it was over by then";
  EXPECT_EQ(shrunk.living.back(), 6);
  EXPECT_GT(*whole.summary->simulated_time_s, 50);
  EXPECT_EQ(whole.living.back(), 8);
  waits["min_nodes"] = "7";
  const MortalResult few = RunMortals(waits, folder.File("few"));
  ASSERT_TRUE(few.summary.ok()) << few.summary.status();
  EXPECT_THAT(*few.summary->simulated_time_s, AllOf(Gt(20), Lt(30))) << "for the first alone";
}

TEST(ShrinkingRuns, DoNotWaitForever) {
  const ScratchFolder folder;
  for (const char* chaos : {"kill:rank=3:at=round:25", "kill:rank=3:at=round:25:back=61s"}) {
    const MortalResult result =
        RunMortals({{"on_failure", "wait"}, {"chaos", chaos}}, folder.File(chaos));
    EXPECT_EQ(FailureOf(result.summary.status()), Failure::kPeerLost);
    EXPECT_THAT(std::string(result.summary.status().message()),
                HasSubstr("7 of 8 nodes are left, fewer than --min-nodes=8, and not enough others "
                          "have come in within --rendezvous-timeout"));
  }
}

// What the dead have not done of what nodes share, the others do.
TEST(ShrinkingRuns, DoAllThatWasPlannedWithoutRounds) {
  const ScratchFolder folder;
  const MortalResult whole = RunMortals({{"algorithm", "adpsgd"}}, folder.File("whole"));
  const MortalResult result =
      RunMortals({{"algorithm", "adpsgd"},
                  {"chaos", "kill:rank=1:at=round:25,kill:rank=3:at=round:45,kill:rank=5:at=50ms"}},
                 folder.File("run"));
  ASSERT_TRUE(whole.summary.ok()) << whole.summary.status();
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_EQ(result.living.back(), 5);
  EXPECT_EQ(result.summary->rounds, 80);
  EXPECT_EQ(result.epochs, whole.epochs);
  EXPECT_GT(*result.summary->simulated_time_s, 1.2 * *whole.summary->simulated_time_s);
  EXPECT_NEAR(*result.summary->test_accuracy, *whole.summary->test_accuracy, 0.05);
}

// As real ones: who else counts the steps, or has the model?
TEST(ShrinkingRuns, EndWithWhomNobodyReplaces) {
  const ScratchFolder folder;
  int run = 0;
  for (const auto& [algorithm, chaos] :
       std::vector<std::pair<std::string, std::string>>{{"adpsgd", "kill:rank=0:at=round:25"},
                                                        {"ps:async", "kill:rank=0:at=round:25"},
                                                        {"ps", "kill:rank=7:at=round:25"},
                                                        {"ps", "kill:rank=0:at=round:25"}}) {
    const MortalResult result = RunMortals({{"algorithm", algorithm}, {"chaos", chaos}},
                                           folder.File(std::to_string(++run)));
    EXPECT_EQ(FailureOf(result.summary.status()), Failure::kPeerLost) << algorithm << chaos;
  }
}

// Who was to send rank 0 a part of the model has died when it would come in.
TEST(ShrinkingRuns, GrowAgainAtTheSecondAttempt) {
  const ScratchFolder folder;
  const MortalResult result =
      RunMortals({{"rounds", "2000"},
                  {"log_every", "500"},
                  {"chaos", "kill:rank=0:at=round:25:back=20ms,kill:rank=3:at=round:45"}},
                 folder.File("run"));
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_EQ(result.living.back(), 7);
}

TEST(ShrinkingRuns, DoNotGrowOnceTheyAreOver) {
  const ScratchFolder folder;
  const MortalResult result =
      RunMortals({{"chaos", "kill:rank=3:at=round:25:back=1h"}}, folder.File("run"));
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_EQ(result.living.back(), 7);
  EXPECT_LT(*result.summary->simulated_time_s, 60);
}

TEST(ShrinkingRuns, ThatEndWithTheFirstLossKnowNoReturn) {
  const ScratchFolder folder;
  const MortalResult result = RunMortals(
      {{"on_failure", "end"}, {"chaos", "kill:rank=3:at=round:25:back=1s"}}, folder.File("run"));
  EXPECT_THAT(std::string(result.summary.status().message()), HasSubstr("--on-failure=shrink"));
}

// Each of two nodes has digits that the other never sees.
TEST(ShrinkingRuns, LearnFromTheDataOfTheDead) {
  const ScratchFolder folder;
  const MortalResult result = RunMortals({{"nodes", "2"},
                                          {"data", "synthetic:train=2000:test=500"},
                                          {"split", "label"},
                                          {"batch", "16"},
                                          {"lr", "0.02"},
                                          {"rounds", "300"},
                                          {"chaos", "kill:rank=1:at=round:5"}},
                                         folder.File("run"));
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_GT(*result.summary->test_accuracy, 0.6) << "of five digits it would be half at most";
}

TEST(ShrinkingRuns, CountTheEpochsOfTheLiving) {
  const ScratchFolder folder;
  const MortalResult result = RunMortals(
      {{"eval_every", "100"}, {"chaos", "kill:rank=1:at=round:30,kill:rank=2:at=round:30"}},
      folder.File("run"));
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  // A round of all is 64 of 512 samples, and one of six nodes 48; their view begins a few rounds
  // after 30.
  const double all = 64.0 / 512, left = 48.0 / 512;
  EXPECT_EQ(result.epochs[0], 20 * all);
  EXPECT_GT(result.epochs[1], 30 * all + 10 * left - 1e-9);
  EXPECT_LT(result.epochs[1], 40 * all);
  EXPECT_DOUBLE_EQ(result.epochs[3], result.epochs[1] + 40 * left);
  EXPECT_EQ(result.summary->epochs, result.epochs[3]);
}

TEST(ShrinkingRuns, GoOnWithoutThoseWhoAreStoppedOrSendWrongBits) {
  const ScratchFolder folder;
  std::string run;  // the last one
  const auto time = [&](const std::string& chaos, Rank living) {
    run = folder.File("run");
    const MortalResult result = RunMortals({{"chaos", chaos}, {"peer_timeout", "2s"}}, run);
    EXPECT_TRUE(result.summary.ok()) << chaos << ": " << result.summary.status();
    if (!result.summary.ok()) return 0.0;
    EXPECT_EQ(result.living.back(), living) << chaos;
    return *result.summary->simulated_time_s;
  };
  const double whole = time("kill:rank=3:at=round:25", 7);
  const double stopped = time("stop:rank=3:at=round:25:for=1h", 7);
  EXPECT_NEAR(stopped - whole, 2, 0.1) << "the others have to wait for --peer-timeout";
  EXPECT_NEAR(time("corrupt:edge=3-4:at=round:25", 7), whole, 0.1);
  time("corrupt:edge=0-1:at=round:25,corrupt:edge=7-0:at=round:40", 6);
  EXPECT_TRUE(std::filesystem::exists(NodeModel(run, 0))) << "rank 0 stays";
}

// Whatever is on its way then, between whomever and in whichever algorithm. The side with rank 0
// goes on; of the two ends of an edge the first goes, unless that is rank 0.
TEST(ShrinkingRuns, GoOnWithoutThoseWhoStayCutOff) {
  const ScratchFolder folder;
  const std::vector<std::string> algorithms = {
      "dpsgd", "dpsgd:order=atc", "sgp:overlap=2", "noloco",  "adpsgd", "allreduce", "slowmo",
      "ps",    "ps:async",        "easgd",         "downpour"};
  for (const uint64_t seed : testing::Seeds(44)) {
    KeyedRandom random(seed, Purpose::kChaos);
    const std::string& algorithm = algorithms[seed % algorithms.size()];
    const bool gossip = *WorkerCount(algorithm, 8) == 8 && !IsCentralized(algorithm);
    const std::string at = absl::StrCat(":at=", 1000 + random.Below(60'000), "us");
    const uint64_t kind = random.Below(gossip ? 3 : 2);
    const Rank first = 1 + static_cast<Rank>(random.Below(4));
    const std::string fault = kind == 0   ? absl::StrCat("stop:rank=", first, ":for=1h", at)
                              : kind == 1 ? absl::StrCat("partition:ranks=", first, "+6", at)
                                          : absl::StrCat("cut:edge=", first, "-", first + 1, at);
    SCOPED_TRACE(absl::StrCat("seed ", seed, ": ", algorithm, ", ", fault));
    const MortalResult result =
        RunMortals({{"algorithm", algorithm}, {"chaos", fault}}, folder.File(absl::StrCat(seed)));
    ASSERT_TRUE(result.summary.ok()) << result.summary.status();
    EXPECT_EQ(result.summary->rounds, 80);
    EXPECT_EQ(result.living.back(), kind == 1 ? 6 : 7);
    EXPECT_LT(*result.summary->simulated_time_s, 60) << "a timeout, and the rounds";
  }
}

TEST(ShrinkingRuns, LoseAgainWhoComesBackBehindAPartition) {
  const ScratchFolder folder;
  for (const std::string kind : {"partition:ranks=3", "cut:edge=3-4"}) {
    const MortalResult result = RunMortals(
        {{"rounds", "400"}, {"chaos", "kill:rank=3:at=10ms:back=40ms," + kind + ":at=20ms"}},
        folder.File(kind.substr(0, 3)));
    ASSERT_TRUE(result.summary.ok()) << kind << ": " << result.summary.status();
    EXPECT_EQ(result.summary->rounds, 400);
    EXPECT_EQ(result.living.back(), 7) << kind;
  }
}

TEST(ShrinkingRuns, EndWhenNobodyIsLeft) {
  const ScratchFolder folder;
  const MortalResult result =
      RunMortals({{"nodes", "2"}, {"chaos", "kill:rank=0:at=round:5,kill:rank=1:at=round:9"}},
                 folder.File("run"));
  EXPECT_EQ(FailureOf(result.summary.status()), Failure::kPeerLost);
  EXPECT_THAT(std::string(result.summary.status().message()),
              HasSubstr("rank 1 is lost; 0 of 2 nodes are left, fewer than --min-nodes=1"));
}

TEST(ShrinkingRuns, EndWhenFewerAreLeftThanWanted) {
  const ScratchFolder folder;
  const auto run = [&](const std::string& least) {
    return RunMortals(
               {{"min_nodes", least}, {"chaos", "kill:rank=3:at=round:25,kill:rank=5:at=round:30"}},
               folder.File("run" + least))
        .summary.status();
  };
  EXPECT_TRUE(run("6").ok()) << run("6");
  const absl::Status ended = run("7");
  EXPECT_EQ(FailureOf(ended), Failure::kPeerLost);
  EXPECT_THAT(std::string(ended.message()),
              HasSubstr("rank 5 is lost; 6 of 8 nodes are left, fewer than --min-nodes=7"));
}

// As real ones (CoordinatorSurvival.FewerThanHalfOfThemGoOnOnlyIfTheUserSaysSo): at once, one after
// the other within --peer-timeout, and behind a partition.
TEST(ShrinkingRuns, EndWhenFewerThanHalfAreLeftUnlessTheUserSaysSo) {
  const ScratchFolder folder;
  int runs = 0;
  for (const char* chaos :
       {"kill:rank=1:at=10ms,kill:rank=2:at=10ms,kill:rank=3:at=10ms,kill:rank=4:at=10ms,"
        "kill:rank=5:at=10ms",
        "kill:rank=1:at=10ms,kill:rank=2:at=20ms,kill:rank=3:at=30ms,kill:rank=4:at=40ms,"
        "kill:rank=5:at=50ms",
        "partition:ranks=1+2+3+4+5:at=10ms"}) {
    SCOPED_TRACE(chaos);
    const auto run = [&](Settings settings) {
      settings["chaos"] = chaos;
      return RunMortals(settings, folder.File(std::to_string(++runs)));
    };
    const absl::Status ended = run({}).summary.status();
    EXPECT_EQ(FailureOf(ended), Failure::kPeerLost);
    EXPECT_THAT(std::string(ended.message()),
                HasSubstr("rank 5 is lost; 3 of 8 nodes are left, fewer than half of the 8 that "
                          "were in the run within --peer-timeout=30s; with --min-nodes=3 so few "
                          "would go on"));
    const MortalResult told = run({{"min_nodes", "3"}});
    ASSERT_TRUE(told.summary.ok()) << told.summary.status();
    EXPECT_EQ(told.living.back(), 3);
  }
}

// A view after another, each of half of those before it.
TEST(ShrinkingRuns, GoDownToOneIfThatTakesLonger) {
  const ScratchFolder folder;
  std::vector<std::string> chaos;
  for (Rank rank = 1; rank < 8; ++rank) {
    chaos.push_back(absl::StrCat("kill:rank=", rank, ":at=", 150 * rank, "ms"));
  }
  const auto run = [&](const std::string& peer_timeout) {
    return RunMortals({{"rounds", "150"},
                       {"compute", "10ms"},
                       {"peer_timeout", peer_timeout},
                       {"chaos", absl::StrJoin(chaos, ",")}},
                      folder.File(peer_timeout));
  };
  const MortalResult result = run("100ms");
  ASSERT_TRUE(result.summary.ok()) << result.summary.status();
  EXPECT_EQ(result.living.back(), 1);
  EXPECT_FALSE(run("1s").summary.ok());
}

TEST(ShrinkingRuns, CannotAskForMoreNodesThanThereAreNorWithoutShrinking) {
  const ScratchFolder folder;
  EXPECT_THAT(
      std::string(RunMortals({{"min_nodes", "9"}}, folder.File("run")).summary.status().message()),
      HasSubstr("the run has 8 nodes (--nodes); no more can be left"));
  const absl::Status status =
      RunMortals({{"min_nodes", "2"}, {"on_failure", "end"}}, folder.File("run")).summary.status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("add --on-failure=shrink"));
}

TEST(ShrinkingRuns, EndAtTheFirstDeathWhereThatIsThePolicy) {
  const ScratchFolder folder;
  const MortalResult result =
      RunMortals({{"on_failure", "end"}, {"chaos", "kill:rank=3:at=round:25"}}, folder.File("run"));
  EXPECT_EQ(FailureOf(result.summary.status()), Failure::kPeerLost);
  EXPECT_THAT(std::string(result.summary.status().message()), HasSubstr("rank 3"));
}

TEST(ShrinkingRuns, AreRefusedWhereNobodyCanGoOn) {
  const ScratchFolder folder;
  const MortalResult result =
      RunMortals({{"algorithm", "allreduce:torus:2x4"}}, folder.File("run"));
  EXPECT_EQ(FailureOf(result.summary.status()), Failure::kUsage);
  EXPECT_THAT(std::string(result.summary.status().message()),
              HasSubstr("those of adag, adpsgd, allreduce, average, diloco, downpour, dpsgd"));
}

}  // namespace
}  // namespace grapevine
