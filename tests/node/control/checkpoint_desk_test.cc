#include "node/control/checkpoint_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Rank kNodes = 3;

control::SavedPart PartOf(Round round) {
  control::SavedPart part;
  part.set_round(round);
  part.set_bytes(100 + round);
  part.set_checksum(7);
  return part;
}

CheckpointDesk Desk(Round begin = 0) {
  return CheckpointDesk({.nodes = kNodes,
                         .rounds = 100,
                         .begin = begin,
                         .saved = [](Round round) { return round % 10 == 0; },
                         .evaluated = [](Round round) { return round == 15 || round == 20; }});
}

void Save(CheckpointDesk& desk, Round round, Rank from = 0, Rank to = kNodes) {
  for (Rank rank = from; rank < to; ++rank) {
    const absl::Status status = desk.OnPart(rank, PartOf(round));
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(CheckpointDesk, CompletesOnceAllPartsAreThere) {
  CheckpointDesk desk = Desk();
  Save(desk, 10, 1);
  EXPECT_FALSE(desk.ready());
  EXPECT_FALSE(desk.Take().has_value());
  Save(desk, 10, 0, 1);
  const auto complete = desk.Take();
  ASSERT_TRUE(complete.has_value());
  EXPECT_EQ(complete->round, 10);
  ASSERT_EQ(complete->parts.size(), 3u);
  EXPECT_EQ(complete->parts.at(2).bytes(), 110);
  EXPECT_FALSE(desk.Take().has_value()) << "once";
}

TEST(CheckpointDesk, WaitsForTheEvaluationsUntilThere) {
  CheckpointDesk desk = Desk();
  Save(desk, 20);
  desk.OnMeasured(15);
  EXPECT_FALSE(desk.ready()) << "that of 20 is one of them";
  desk.OnMeasured(20);
  EXPECT_EQ(desk.Take()->round, 20);
}

TEST(CheckpointDesk, KeepsTheLastOfThoseThatWait) {
  CheckpointDesk desk = Desk();
  for (const Round round : {20, 30, 40}) Save(desk, round);
  desk.OnMeasured(20);
  EXPECT_EQ(desk.Take()->round, 30);
  EXPECT_EQ(desk.Take()->round, 40);
  EXPECT_FALSE(desk.Take().has_value());
}

TEST(CheckpointDesk, CompletesNoneOfARunThatIsOver) {
  CheckpointDesk desk = Desk();
  Save(desk, 20);
  desk.OnOver(20);
  desk.OnMeasured(20);
  EXPECT_FALSE(desk.ready());
}

// Then the oldest is none: the run goes on without.
TEST(CheckpointDesk, LetsANodeBeAnyNumberOfCheckpointsAhead) {
  constexpr Round kAhead = 5000;
  CheckpointDesk desk({.nodes = 2,
                       .rounds = kAhead,
                       .saved = [](Round) { return true; },
                       .evaluated = [](Round) { return false; }});
  for (Round round = 1; round <= kAhead; ++round) Save(desk, round, 0, 1);
  Save(desk, 1, 1, 2);
  EXPECT_FALSE(desk.ready());
  Save(desk, kAhead, 1, 2);
  const auto complete = desk.Take();
  ASSERT_TRUE(complete.has_value());
  EXPECT_EQ(complete->round, kAhead);
}

TEST(CheckpointDesk, GoesOnWhereTheRunDoes) {
  CheckpointDesk desk = Desk(/*begin=*/20);
  EXPECT_FALSE(desk.OnPart(0, PartOf(20)).ok()) << "is there already";
  Save(desk, 30);
  EXPECT_EQ(desk.Take()->round, 30) << "evaluations until 20 were there";
}

std::vector<Rank> RanksIn(const std::optional<CheckpointDesk::Complete>& complete) {
  std::vector<Rank> ranks;
  if (!complete) return ranks;
  for (const auto& [rank, part] : complete->parts) ranks.push_back(rank);
  return ranks;
}

TEST(CheckpointDesk, CompletesWithoutThoseWhoAreLost) {
  CheckpointDesk desk = Desk();
  Save(desk, 10, 0, 2);
  EXPECT_FALSE(desk.ready());
  desk.OnLost(2);
  EXPECT_THAT(RanksIn(desk.Take()), ElementsAre(0, 1)) << "at once";
  Save(desk, 30, 0, 2);
  desk.OnMeasured(30);
  EXPECT_THAT(RanksIn(desk.Take()), ElementsAre(0, 1));
}

// Their parts may be of another view than those that are still to come.
TEST(CheckpointDesk, CountsThoseWhoAreLostLaterOnly) {
  CheckpointDesk desk = Desk();
  Save(desk, 10, 1);
  desk.OnLost(2);
  EXPECT_TRUE(desk.OnPart(2, PartOf(10)).ok()) << "on its way";
  EXPECT_FALSE(desk.ready());
  Save(desk, 10, 0, 1);
  desk.OnLost(1);
  EXPECT_THAT(RanksIn(desk.Take()), ElementsAre(0, 1));
  Save(desk, 30, 0, 1);
  desk.OnMeasured(30);
  EXPECT_THAT(RanksIn(desk.Take()), ElementsAre(0));
}

TEST(CheckpointDesk, ALossMayCompleteSeveral) {
  CheckpointDesk desk = Desk();
  desk.OnMeasured(40);
  for (const Round round : {10, 30, 40}) Save(desk, round, 0, 2);
  Save(desk, 10, 2);
  EXPECT_THAT(RanksIn(desk.Take()), ElementsAre(0, 1, 2));
  desk.OnLost(2);
  EXPECT_EQ(desk.Take()->round, 30);
  EXPECT_EQ(desk.Take()->round, 40);
  EXPECT_FALSE(desk.ready());
}

TEST(CheckpointDesk, ANewcomerHasPartsOfWhatIsSavedAfterItsFirstRound) {
  CheckpointDesk desk = Desk();
  desk.OnLost(1);
  desk.OnNewcomer(1, 20);
  desk.OnMeasured(100);
  for (const Rank rank : {0, 2}) Save(desk, 20, rank, rank + 1);
  const auto without = desk.Take();
  ASSERT_TRUE(without.has_value()) << "it begins with the next round";
  EXPECT_EQ(without->parts.size(), 2u);
  EXPECT_TRUE(without->changed);
  for (const Rank rank : {0, 2}) Save(desk, 30, rank, rank + 1);
  EXPECT_FALSE(desk.ready());
  EXPECT_THAT(std::string(desk.OnPart(1, PartOf(20)).message()),
              HasSubstr("rank 1 reported its part of the checkpoint of round 20 after that of 20"));
  Save(desk, 30, 1, 2);
  const auto with = desk.Take();
  ASSERT_TRUE(with.has_value());
  EXPECT_EQ(with->parts.size(), 3u);
  EXPECT_TRUE(with->changed) << "of all nodes, but not of their first processes";
}

TEST(CheckpointDesk, KnowsWhatIsCalledFor) {
  CheckpointDesk desk(
      {.nodes = kNodes, .rounds = 100, .saved = nullptr, .evaluated = [](Round) { return false; }});
  EXPECT_THAT(std::string(desk.OnPart(0, PartOf(13)).message()),
              HasSubstr("of which there is none"));
  desk.OnCalled(13);
  Save(desk, 13);
  EXPECT_EQ(desk.Take()->round, 13);
  desk.OnCalled(40);
  Save(desk, 40);
  EXPECT_EQ(desk.Take()->round, 40);
}

std::string Refusal(CheckpointDesk& desk, const control::SavedPart& part) {
  return std::string(desk.OnPart(1, part).message());
}

TEST(CheckpointDesk, RefusesWhatNoNodeCanHave) {
  CheckpointDesk desk = Desk();
  Save(desk, 10);
  EXPECT_THAT(Refusal(desk, PartOf(10)),
              HasSubstr("rank 1 reported its part of the checkpoint of round 10 after that of 10"));
  EXPECT_THAT(Refusal(desk, PartOf(15)), HasSubstr("of which there is none"));
  EXPECT_THAT(Refusal(desk, PartOf(110)), HasSubstr("of which there is none"));
  control::SavedPart part = PartOf(20);
  part.set_bytes(0);
  EXPECT_THAT(Refusal(desk, part), HasSubstr("which cannot be"));
  part = PartOf(20);
  part.set_bytes_sent(-1);
  EXPECT_THAT(Refusal(desk, part), HasSubstr("which cannot be"));
  EXPECT_THAT(Refusal(desk, PartOf(-10)), HasSubstr("after that of 10"));
}

TEST(CheckpointDesk, LeavesAloneWhatAnotherHasCompleted) {
  CheckpointDesk desk = Desk();
  desk.OnInherited(10);
  desk.OnMeasured(40);
  Save(desk, 10);
  EXPECT_FALSE(desk.ready());
  Save(desk, 20);
  EXPECT_EQ(desk.Take()->round, 20);
}

}  // namespace
}  // namespace grapevine
