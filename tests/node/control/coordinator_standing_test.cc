// Where the coordinator says that the nodes are.
#include <limits>
#include <optional>

#include "gtest/gtest.h"
#include "run/records/run_standing.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

using CoordinatorStanding = CoordinatorRun;

TEST_F(CoordinatorStanding, NamesTheSlowestAndTheFastest) {
  BeginRunning(4);
  Beat(0, 12);
  Beat(1, 10);
  Beat(2, 15);
  Beat(3, 10);
  const std::optional<RunStanding> standing = coordinator_->Standing();
  ASSERT_TRUE(standing.has_value());
  EXPECT_EQ(standing->slowest_rank, 1);
  EXPECT_EQ(standing->slowest_round, 10);
  EXPECT_EQ(standing->fastest_rank, 2);
  EXPECT_EQ(standing->fastest_round, 15);
  EXPECT_FALSE(standing->wait.has_value());
}

TEST_F(CoordinatorStanding, NamesTheLongestWaitForWhoDoesNotWait) {
  BeginRunning(4);
  for (const Rank rank : {0, 2, 3}) Beat(rank, 5);
  Beat(1, 5, {2});  // the longest, but 2 will wait for 3
  now_ += milliseconds(500);
  Beat(2, 5, {3, 1});
  now_ += milliseconds(500);
  Beat(0, 5, {3});
  now_ += milliseconds(1500);
  for (const Rank rank : {1, 2, 0}) Beat(rank, 5, {rank == 1 ? 2 : 3});
  const std::optional<StandingWait> wait = coordinator_->Standing()->wait;
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->rank, 2);
  EXPECT_EQ(wait->peer, 3);
  EXPECT_EQ(wait->round, 5);
  EXPECT_DOUBLE_EQ(wait->seconds, 2) << "also after another that it waited for has come";
}

TEST_F(CoordinatorStanding, AWaitBeginsAnewWithEachRound) {
  BeginRunning(2);
  Beat(0, 5, {1});
  now_ += milliseconds(900);
  Beat(0, 5, {1});
  now_ += milliseconds(900);
  Beat(0, 6, {1});
  EXPECT_DOUBLE_EQ(coordinator_->Standing()->wait->seconds, 0);
  now_ += milliseconds(800);
  EXPECT_DOUBLE_EQ(coordinator_->Standing()->wait->seconds, 0) << "it may have gone on since";
  Beat(0, 6, {1});
  EXPECT_DOUBLE_EQ(coordinator_->Standing()->wait->seconds, 0.8);
  Beat(0, 6);
  EXPECT_FALSE(coordinator_->Standing()->wait.has_value());
}

TEST_F(CoordinatorStanding, WhatNodesSayMayBeAnything) {
  BeginRunning(2);
  Beat(0, -7, {-1});
  Beat(1, std::numeric_limits<int64_t>::max(), {1'000'000});
  const std::optional<RunStanding> standing = coordinator_->Standing();
  EXPECT_EQ(standing->slowest_round, 0);
  EXPECT_FALSE(standing->wait.has_value()) << "nobody of that rank";
  EXPECT_TRUE(RunStandingFromJson(ToJsonLine(*standing)).ok());
}

TEST_F(CoordinatorStanding, ThereIsNoneBeforeAndAfterTheRun) {
  Begin(2, milliseconds(4000));
  EXPECT_FALSE(coordinator_->Standing().has_value());
  BeginRunning(2);
  EXPECT_TRUE(coordinator_->Standing().has_value());
  Fail(1, 1, "rank 1: the disk is full", Failure::kOutput);
  EXPECT_FALSE(coordinator_->Standing().has_value());
}

}  // namespace
}  // namespace grapevine
