#include "run/chaos/fault_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/chaos/fault_timeline.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A ring of four.
ChaosExtent Ring() {
  return {.nodes = 4, .workers = 4, .rounds = 300, .edges = {{0, 1}, {0, 3}, {1, 2}, {2, 3}}};
}

absl::StatusOr<FaultSchedule> Schedule(const std::string& text,
                                       const ChaosExtent& extent = Ring()) {
  return MakeFaultSchedule(std::vector<std::string>{text}, extent);
}

void ExpectRefusedFault(const std::string& text, const std::string& why) {
  const auto schedule = Schedule(text);
  EXPECT_EQ(FailureOf(schedule.status()), Failure::kUsage) << text;
  EXPECT_THAT(std::string(schedule.status().message()), StartsWith("--chaos=" + text + ": "));
  EXPECT_THAT(std::string(schedule.status().message()), HasSubstr(why));
}

TEST(FaultScheduleTest, ReadsEveryKind) {
  const auto schedule = Schedule(
      "kill:rank=3:at=round:200, stop:rank=2:at=10s:for=5s,slow:rank=1:factor=4,cut:edge=2-1:at=1s,"
      "partition:ranks=3+0:at=round:0:for=20ms,drop:p=0.25:edge=0-1:for=1s,corrupt:edge=1-2:at=0s,"
      "disk-full:rank=0:at=round:9");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_EQ(schedule->size(), 8u);
  EXPECT_EQ((*schedule)[0], (Fault{.kind = FaultKind::kKill, .ranks = {3}, .round = Round{200}}));
  EXPECT_EQ((*schedule)[1], (Fault{.kind = FaultKind::kStop,
                                   .ranks = {2},
                                   .round = {},
                                   .time = seconds(10),
                                   .duration = seconds(5)}));
  EXPECT_EQ((*schedule)[2].amount, 4);
  EXPECT_EQ((*schedule)[3].duration, Fault::kForever);
  EXPECT_THAT((*schedule)[4].ranks, ElementsAre(0, 3));
  EXPECT_EQ((*schedule)[5].amount, 0.25);
}

TEST(FaultScheduleTest, TheTextOfAFaultReadsBack) {
  for (const char* text :
       {"kill:rank=3:at=round:200", "kill:rank=3:at=10s:back=5s",
        "kill:rank=0:at=round:7:back=500ms", "stop:rank=2:at=10s:for=5s",
        "slow:factor=2.5:rank=1:at=0s", "cut:edge=1-2:at=1s:for=10ms",
        "partition:ranks=0+1:at=round:7:for=1s", "drop:p=0.01:at=0s", "drop:p=0.01:edge=0-1:at=0s",
        "corrupt:edge=2-1:at=round:5", "disk-full:rank=0:at=10s"}) {
    const auto schedule = Schedule(text);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    EXPECT_EQ(FaultText(schedule->front()), text);
  }
}

TEST(FaultScheduleTest, AFaultSaysBetweenWhomItIs) {
  const auto schedule =
      Schedule("cut:edge=1-2:at=0s,partition:ranks=0+1:at=0s,corrupt:edge=1-2:at=0s,drop:p=0.5");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const Fault &cut = (*schedule)[0], &partition = (*schedule)[1], &corrupt = (*schedule)[2],
              &drop = (*schedule)[3];
  EXPECT_TRUE(cut.IsBetween(1, 2) && cut.IsBetween(2, 1));
  EXPECT_FALSE(cut.IsBetween(0, 1));
  EXPECT_TRUE(partition.IsBetween(1, 2) && partition.IsBetween(3, 0));
  EXPECT_FALSE(partition.IsBetween(0, 1) || partition.IsBetween(2, 3));
  EXPECT_TRUE(corrupt.IsBetween(1, 2));
  EXPECT_FALSE(corrupt.IsBetween(2, 1));
  EXPECT_TRUE(drop.IsBetween(3, 0));
}

TEST(FaultScheduleTest, WhatCannotBeIsRefusedByName) {
  ExpectRefusedFault("kil:rank=3:at=1s", "no such fault; there are kill, stop, ");
  ExpectRefusedFault("kill:at=1s", "needs rank=R");
  ExpectRefusedFault("kill:rank=4:at=1s", "there is no rank 4 among 4 nodes");
  ExpectRefusedFault("kill:rank=3", "needs at=round:N or at=TIME");
  ExpectRefusedFault("kill:rank=3:at=round:x", "must be round:N");
  ExpectRefusedFault("kill:rank=3:at=round:300", "after the end of the run, which has 300 rounds");
  ExpectRefusedFault("kill:rank=3:at=soon", "option at: ");
  ExpectRefusedFault("kill:rank=3:at=1s:for=1s", "unknown option 'for'");
  ExpectRefusedFault("kill:rank=3:at=1s:back=soon", "option back: ");
  ExpectRefusedFault("kill:rank=3:at=1s:back=99999h", "longer than any run");
  ExpectRefusedFault("stop:rank=3:at=1s:for=1s:back=1s", "unknown option 'back'");
  ExpectRefusedFault("disk-full:rank=3:at=1s:back=1s", "unknown option 'back'");
  ExpectRefusedFault("stop:rank=3:at=1s", "needs for=TIME");
  ExpectRefusedFault("stop:rank=3:at=1s:for=99999h", "longer than any run");
  ExpectRefusedFault("slow:rank=3:at=1s", "needs factor=NUMBER");
  ExpectRefusedFault("slow:rank=3:factor=0.5", "less than 1");
  ExpectRefusedFault("cut:at=1s", "needs edge=A-B");
  ExpectRefusedFault("cut:edge=1:at=1s", "needs edge=A-B");
  ExpectRefusedFault("cut:edge=1-1:at=1s", "rank 1 is named twice");
  ExpectRefusedFault("cut:edge=1-3:at=1s", "ranks 1 and 3 are no neighbours");
  ExpectRefusedFault("partition:at=1s", "needs ranks=A+B");
  ExpectRefusedFault("partition:ranks=0+1+2+3:at=1s", "all ranks are on one side");
  ExpectRefusedFault("drop:at=1s", "needs p=NUMBER");
  ExpectRefusedFault("drop:p=2", "more than 1");
  ExpectRefusedFault("random:seed=1", "needs rate=P");
  ExpectRefusedFault("random:rate=0.1:kinds=stop+flood", "'flood' is not one of stop, ");
  ExpectRefusedFault("random:rate=0.1:for=0", "between 1ms and 24h");
  ExpectRefusedFault("random:rate=0.1:kinds=kill:back=soon", "option back: must be a time");
}

TEST(FaultScheduleTest, AServerComputesNothingThatCouldBeSlow) {
  const auto schedule = Schedule("slow:rank=3:factor=2", {.nodes = 4, .workers = 3, .rounds = 9});
  EXPECT_THAT(std::string(schedule.status().message()), HasSubstr("rank 3 is a server"));
}

TEST(FaultScheduleTest, AFileHasAFaultALineAndErrorsNameIt) {
  const ScratchFolder folder;
  const std::string good = folder.Write(
      "good.chaos", "# half of the run\nkill:rank=3:at=1s\n\n cut:edge=1-2:at=2s, drop:p=0.1\n");
  const auto schedule = Schedule("file:" + good);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(schedule->size(), 3u);
  const std::string bad = folder.Write("bad.chaos", "kill:rank=3:at=1s\nkill:rank=9:at=1s\n");
  EXPECT_THAT(std::string(Schedule("file:" + bad).status().message()),
              StartsWith(bad + ":2: kill:rank=9:at=1s: there is no rank 9"));
  const auto missing = Schedule("file:" + folder.File("none"));
  EXPECT_EQ(FailureOf(missing.status()), Failure::kInput) << missing.status();
}

TEST(FaultScheduleTest, RandomFaultsFollowFromTheirSeed) {
  const std::string text = "random:seed=7:rate=0.5:for=2s:kinds=stop+slow+cut+partition+drop+kill";
  const auto once = Schedule(text), again = Schedule(text);
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_EQ(*once, *again);
  EXPECT_NE(*once, *Schedule("random:seed=8:rate=0.5:for=2s"));
  // Half of 300 rounds; eight standard deviations are 70.
  EXPECT_GT(once->size(), 80u);
  EXPECT_LT(once->size(), 220u);
  std::set<FaultKind> kinds;
  for (const Fault& fault : *once) {
    kinds.insert(fault.kind);
    ASSERT_TRUE(fault.round.has_value());
    EXPECT_LE(IsFatal(fault.kind) ? nanoseconds(0) : fault.duration, seconds(2));
    // Each is one that could have been given.
    EXPECT_EQ(Schedule(FaultText(fault))->front(), fault) << FaultText(fault);
  }
  EXPECT_EQ(kinds.size(), 6u);
}

TEST(FaultScheduleTest, WhoIsKilledComesBackWhereTheOthersGoOn) {
  const std::string text = "kill:rank=3:at=round:200:back=5s";
  EXPECT_EQ(
      Schedule(text)->front(),
      (Fault{.kind = FaultKind::kKill, .ranks = {3}, .round = Round{200}, .duration = seconds(5)}));
  ChaosExtent ends = Ring();
  ends.resilient = false;
  for (const std::string& refused : {text, std::string("random:rate=0.5:kinds=kill:back=5s")}) {
    const auto schedule = Schedule(refused, ends);
    EXPECT_EQ(FailureOf(schedule.status()), Failure::kUsage);
    EXPECT_THAT(std::string(schedule.status().message()),
                HasSubstr("option back: the run ends with the first node that is killed; let the "
                          "others go on with --on-failure=shrink"));
  }
  EXPECT_TRUE(Schedule("kill:rank=3:at=round:200", ends).ok());
}

TEST(FaultScheduleTest, OfRandomFaultsOnlyWhoIsKilledComesBack) {
  const auto schedule = Schedule("random:seed=7:rate=0.5:kinds=stop+kill+disk-full:for=1s:back=3s");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  std::set<FaultKind> kinds;
  for (const Fault& fault : *schedule) {
    kinds.insert(fault.kind);
    if (fault.kind == FaultKind::kKill) {
      EXPECT_EQ(fault.duration, seconds(3));
    }
    if (fault.kind == FaultKind::kDiskFull) {
      EXPECT_EQ(fault.duration, Fault::kForever);
    }
    if (fault.kind == FaultKind::kStop) {
      EXPECT_LE(fault.duration, seconds(1));
    }
    EXPECT_EQ(Schedule(FaultText(fault))->front(), fault) << FaultText(fault);
  }
  EXPECT_EQ(kinds.size(), 3u);
}

TEST(FaultScheduleTest, RandomEdgesAreAnyWhereTheGraphDoesNotSay) {
  const auto schedule = Schedule("random:rate=1:kinds=cut", {.nodes = 4, .rounds = 100});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  std::set<std::vector<Rank>> edges;
  for (const Fault& fault : *schedule) edges.insert(fault.ranks);
  EXPECT_EQ(edges.size(), 6u);
}

TEST(FaultScheduleTest, ARunThatGoesOnHasWhatIsNotOverAndDoesNotEndIt) {
  const auto schedule = [](const std::vector<std::string>& texts) {
    return *MakeFaultSchedule(texts, {.nodes = 4, .workers = 4, .rounds = 100});
  };
  const FaultSchedule left =
      LeftOf(schedule({"stop:rank=1:at=round:10:for=1s", "stop:rank=1:at=round:40:for=1s",
                       "kill:rank=1:at=round:50", "slow:rank=2:factor=2:at=round:5",
                       "slow:rank=2:factor=3", "stop:rank=3:at=2s:for=1s",
                       "stop:rank=3:at=2s:for=9s", "stop:rank=3:at=9s:for=1s",
                       "disk-full:rank=0:at=9s", "cut:edge=0-1:at=9s", "drop:p=0.1:at=1s"}),
             40, std::chrono::seconds(8));
  EXPECT_EQ(left, schedule({"stop:rank=1:at=round:40:for=1s", "slow:rank=2:factor=2:at=round:5",
                            "slow:rank=2:factor=3", "stop:rank=3:at=2s:for=9s",
                            "stop:rank=3:at=9s:for=1s", "drop:p=0.1:at=1s"}));
}

TEST(FaultScheduleTest, ANewcomerHasWhatHasNotBegun) {
  const auto schedule = [](const std::vector<std::string>& texts) {
    return *MakeFaultSchedule(texts, {.nodes = 4, .workers = 4, .rounds = 100});
  };
  const FaultSchedule left =
      LeftForNewcomer(schedule({"kill:rank=1:at=round:40:back=1s", "kill:rank=1:at=round:41",
                                "kill:rank=1:at=2s:back=1s", "kill:rank=1:at=9s:back=1s",
                                "kill:rank=2:at=8s", "stop:rank=1:at=round:10:for=1s",
                                "slow:rank=1:factor=2:at=round:5", "stop:rank=3:at=2s:for=9s",
                                "disk-full:rank=1:at=round:7", "disk-full:rank=1:at=9s"}),
                      40, seconds(8));
  EXPECT_EQ(left, schedule({"kill:rank=1:at=round:41", "kill:rank=1:at=9s:back=1s",
                            "slow:rank=1:factor=2:at=round:5", "stop:rank=3:at=2s:for=9s",
                            "disk-full:rank=1:at=9s"}));
}

TEST(FaultScheduleTest, TooManyFaultsAreRefused) {
  const auto schedule = Schedule("random:rate=1", {.nodes = 4, .workers = 4, .rounds = 20000});
  EXPECT_THAT(std::string(schedule.status().message()), HasSubstr("more than 10000 faults"));
}

TEST(ChaosRecordTest, AFaultIsALineOfJson) {
  const auto schedule = Schedule("cut:edge=1-2:at=round:5:for=1s");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(ChaosLine({&schedule->front(), 1}, 5, milliseconds(1500)),
            R"({"round":5,"time_s":1.500000,"rank":1,"fault":"cut:edge=1-2:at=round:5:for=1s"})");
}

}  // namespace
}  // namespace grapevine
