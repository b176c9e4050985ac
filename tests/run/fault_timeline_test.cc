#include "run/chaos/fault_timeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace grapevine {
namespace {

using std::chrono::seconds;

FaultTimeline TimelineOf(const std::string& text) {
  auto schedule =
      MakeFaultSchedule(std::vector<std::string>{text}, {.nodes = 4, .workers = 4, .rounds = 100});
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return FaultTimeline(*std::move(schedule));
}

TEST(FaultTimelineTest, AFaultOfATimeIsDueOnce) {
  FaultTimeline timeline = TimelineOf("kill:rank=3:at=20s,stop:rank=1:at=10s:for=1s");
  EXPECT_EQ(timeline.NextDue(), seconds(10));
  EXPECT_TRUE(timeline.TakeDue(seconds(9)).empty());
  const auto due = timeline.TakeDue(seconds(10));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].rank, 1);
  EXPECT_EQ(timeline.TakeDue(seconds(30)).size(), 1u);
  EXPECT_EQ(timeline.NextDue(), FaultTimeline::kNever);
}

TEST(FaultTimelineTest, AFaultOfARoundBeginsOnceAtTheNodeThatItNames) {
  FaultTimeline timeline = TimelineOf("kill:rank=3:at=round:5");
  EXPECT_TRUE(timeline.OnRound(3, 4, seconds(4)).empty());
  EXPECT_TRUE(timeline.OnRound(2, 5, seconds(5)).empty());
  const auto begun = timeline.OnRound(3, 5, seconds(5));
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].fault->kind, FaultKind::kKill);
  EXPECT_EQ(begun[0].rank, 3);
  EXPECT_TRUE(timeline.OnRound(3, 6, seconds(6)).empty());
}

TEST(FaultTimelineTest, EachEndOfAnEdgeGoesByItsOwnRounds) {
  FaultTimeline timeline = TimelineOf("cut:edge=1-2:at=round:5:for=10s");
  timeline.OnRound(1, 5, seconds(7));
  EXPECT_TRUE(timeline.HoldsBetween(FaultKind::kCut, 1, 2, seconds(7)));
  EXPECT_FALSE(timeline.HoldsBetween(FaultKind::kCut, 2, 1, seconds(7)));
  timeline.OnRound(2, 5, seconds(8));
  EXPECT_TRUE(timeline.HoldsBetween(FaultKind::kCut, 2, 1, seconds(8)));
  EXPECT_FALSE(timeline.HoldsBetween(FaultKind::kCut, 1, 2, seconds(17)));
  EXPECT_TRUE(timeline.HoldsBetween(FaultKind::kCut, 2, 1, seconds(17)));
  EXPECT_FALSE(timeline.HoldsBetween(FaultKind::kPartition, 2, 1, seconds(8)));
}

TEST(FaultTimelineTest, BytesPassWhenNothingIsInTheirWayAnyMore) {
  FaultTimeline timeline = TimelineOf(
      "cut:edge=0-1:at=10s:for=5s,stop:rank=1:at=14s:for=3s,partition:ranks=0:at=17s:for=1s,"
      "cut:edge=2-3:at=10s");
  EXPECT_EQ(timeline.Passable(0, 1, seconds(9)), seconds(9));
  EXPECT_EQ(timeline.Passable(0, 1, seconds(10)), seconds(18));
  EXPECT_EQ(timeline.Passable(1, 0, seconds(12)), seconds(18));
  EXPECT_EQ(timeline.Passable(1, 2, seconds(12)), seconds(12));
  EXPECT_EQ(timeline.Passable(1, 2, seconds(16)), seconds(17));
  EXPECT_EQ(timeline.Passable(2, 3, seconds(10)), FaultTimeline::kNever);
}

TEST(FaultTimelineTest, WhatIsObstructedPassesInTheTimeThatIsLeft) {
  FaultTimeline timeline =
      TimelineOf("cut:edge=0-1:at=10s:for=5s,stop:rank=1:at=14s:for=3s,stop:rank=0:at=20s:for=2s");
  EXPECT_EQ(timeline.EndOfPassage(0, 1, seconds(0), seconds(10)), seconds(10));
  EXPECT_EQ(timeline.EndOfPassage(0, 1, seconds(0), seconds(11)), seconds(18));
  EXPECT_EQ(timeline.EndOfPassage(1, 0, seconds(0), seconds(14)), seconds(23));
  EXPECT_EQ(timeline.EndOfPassage(0, 1, seconds(11), seconds(0)), seconds(17));
  EXPECT_EQ(timeline.EndOfPassage(2, 3, seconds(0), seconds(30)), seconds(30));
  FaultTimeline forever = TimelineOf("cut:edge=0-1:at=10s");
  EXPECT_EQ(forever.EndOfPassage(0, 1, seconds(9), seconds(2)), FaultTimeline::kNever);
}

TEST(FaultTimelineTest, AGradientWaitsWhileItsNodeIsStoppedAndGoesOnSlowly) {
  FaultTimeline timeline =
      TimelineOf("stop:rank=1:at=10s:for=5s,slow:rank=1:factor=4:at=20s:for=8s");
  EXPECT_EQ(timeline.EndOfWork(1, seconds(1), seconds(9)), seconds(10));
  EXPECT_EQ(timeline.EndOfWork(1, seconds(9), seconds(2)), seconds(16));
  EXPECT_EQ(timeline.EndOfWork(1, seconds(11), seconds(2)), seconds(17));
  EXPECT_EQ(timeline.EndOfWork(1, seconds(20), seconds(1)), seconds(24));
  EXPECT_EQ(timeline.EndOfWork(1, seconds(20), seconds(3)), seconds(29));
  EXPECT_EQ(timeline.EndOfWork(0, seconds(9), seconds(2)), seconds(11));
  EXPECT_EQ(timeline.Slowness(1, seconds(27)), 4);
  EXPECT_EQ(timeline.Slowness(1, seconds(28)), 1);
}

TEST(FaultTimelineTest, ChancesToBeDroppedAddUp) {
  FaultTimeline timeline = TimelineOf("drop:p=0.5,drop:p=0.5:edge=1-2:at=10s");
  EXPECT_EQ(timeline.DropChance(1, 2, seconds(9)), 0.5);
  EXPECT_EQ(timeline.DropChance(2, 1, seconds(10)), 0.75);
  EXPECT_EQ(timeline.DropChance(0, 1, seconds(10)), 0.5);
}

}  // namespace
}  // namespace grapevine
