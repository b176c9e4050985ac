#include "node/telemetry/node_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::DoubleEq;

constexpr NodeTelemetry::Clock::time_point kStart{seconds(1000)};

TEST(RoundDurations, ABoundBelongsToItsInterval) {
  RoundDurations durations;
  for (const auto time : {milliseconds(0), milliseconds(1), milliseconds(2), milliseconds(100000),
                          milliseconds(100001)}) {
    durations.Add(time);
  }
  EXPECT_EQ(durations.counts.front(), 2);
  EXPECT_EQ(durations.counts[1], 1);
  EXPECT_EQ(durations.counts[durations.kBounds.size() - 1], 1);
  EXPECT_EQ(durations.counts.back(), 1);
  EXPECT_EQ(durations.sum, milliseconds(200004));
}

TEST(NodeTelemetry, IsReadyOnceInTheRun) {
  NodeTelemetry telemetry;
  EXPECT_FALSE(telemetry.Read(kStart).ready);
  telemetry.Begin(/*round=*/7, /*keeps_checkpoints=*/false, kStart);
  EXPECT_TRUE(telemetry.Read(kStart).ready);
  EXPECT_EQ(telemetry.Read(kStart).round, 7);
  EXPECT_FALSE(telemetry.Read(kStart).checkpoint.has_value());
}

TEST(NodeTelemetry, TheAgeOfACheckpointBeginsWhenItIsComplete) {
  NodeTelemetry telemetry;
  telemetry.Begin(/*round=*/40, /*keeps_checkpoints=*/true, kStart);
  const auto first = telemetry.Read(kStart + seconds(3)).checkpoint;
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->round, 40);
  EXPECT_THAT(first->age_s, DoubleEq(3));
  telemetry.OnCheckpoint(50, kStart + seconds(5));
  const auto second = telemetry.Read(kStart + seconds(6)).checkpoint;
  EXPECT_EQ(second->round, 50);
  EXPECT_THAT(second->age_s, DoubleEq(1));
}

// A counter that goes on at what a process before has counted would count that twice.
TEST(NodeTelemetry, CountsWhatThisProcessHasSent) {
  NodeTelemetry telemetry;
  telemetry.CountFrom(1000, 2000);
  telemetry.OnTraffic(1100, 2300);
  EXPECT_EQ(telemetry.Read(kStart).bytes_sent, 100);
  EXPECT_EQ(telemetry.Read(kStart).bytes_received, 300);
}

TEST(NodeTelemetry, AddsUpTheLines) {
  NodeTelemetry telemetry;
  EXPECT_FALSE(telemetry.Read(kStart).line.has_value());
  telemetry.OnLine({.round = 1, .train_loss = 2.5, .gradient_s = 0.5, .mix_s = 0.25, .wait_s = 1},
                   16);
  telemetry.OnLine({.round = 2, .train_loss = 2.0, .gradient_s = 0.5, .mix_s = 0.25, .wait_s = 2},
                   32);
  const NodeFigures figures = telemetry.Read(kStart);
  EXPECT_EQ(figures.line->train_loss, 2.0);
  EXPECT_EQ(figures.gradient_s, 1);
  EXPECT_EQ(figures.mix_s, 0.5);
  EXPECT_EQ(figures.wait_s, 3);
  EXPECT_EQ(figures.samples, 48);
}

}  // namespace
}  // namespace grapevine
