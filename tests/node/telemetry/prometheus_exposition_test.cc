#include "node/telemetry/prometheus_exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const NodeDescription kNode{.rank = 2,
                            .nodes = 4,
                            .rounds = 100,
                            .topology = "ring",
                            .algorithm = "dpsgd",
                            .model = "file:\"odd\\name\"\n.textproto",
                            .version = "1.2.3",
                            .revision = "abc"};

TEST(Exposition, ANodeThatHasMeasuredNothingSaysNothingOfIt) {
  const std::string text = Exposition(kNode, {});
  EXPECT_THAT(text, HasSubstr("grapevine_build_info{version=\"1.2.3\",revision=\"abc\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_round{rank=\"2\"} 0\n"));
  for (const char* absent : {"training_loss", "staleness", "peer_up", "checkpoint",
                             "consensus_distance", "living_nodes"}) {
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  }
}

TEST(Exposition, ARunWhoseProgramsSayWhenItEndsHasNoPlannedRounds) {
  EXPECT_THAT(Exposition(kNode, {}), HasSubstr("grapevine_planned_rounds{rank=\"2\"} 100\n"));
  NodeDescription open = kNode;
  open.rounds.reset();
  EXPECT_THAT(Exposition(open, {}), Not(HasSubstr("planned_rounds")));
}

TEST(Exposition, LabelsAreEscaped) {
  EXPECT_THAT(Exposition(kNode, {}), HasSubstr("model=\"file:\\\"odd\\\\name\\\"\\n.textproto\""));
}

TEST(Exposition, RoundsAreCountedUpToEachBound) {
  NodeFigures figures;
  for (const int milliseconds : {1, 3, 4, 999992}) {
    figures.durations.Add(std::chrono::milliseconds(milliseconds));
  }
  const std::string text = Exposition(kNode, figures);
  const std::string name = "grapevine_round_duration_seconds";
  EXPECT_THAT(text, HasSubstr("# TYPE " + name + " histogram\n"));
  EXPECT_THAT(text, HasSubstr(name + "_count{rank=\"2\"} 4\n"));
  EXPECT_THAT(text, HasSubstr(name + "_sum{rank=\"2\"} 1000\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"0.005\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"100\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"+Inf\"} 4\n"));
}

// 5 had none, 1 had one, 2 had two or three.
TEST(Exposition, StalenessIsInSteps) {
  NodeFigures figures;
  figures.line = NodeMetrics{.staleness_mean = 0.75, .staleness = {{5, 1, 2}}};
  const std::string text = Exposition(kNode, figures);
  const std::string name = "grapevine_staleness_steps";
  EXPECT_THAT(text, HasSubstr(name + "_count{rank=\"2\"} 8\n"));
  EXPECT_THAT(text, HasSubstr(name + "_sum{rank=\"2\"} 6\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"0\"} 5\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"1\"} 6\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"3\"} 8\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rank=\"2\",le=\"32767\"} 8\n"));
  EXPECT_THAT(text, Not(HasSubstr("le=\"65535\"")));
}

// Some were staler than the last bound.
TEST(Exposition, StalenessBeyondTheLastBoundCounts) {
  NodeFigures figures;
  std::vector<int64_t> staleness(20);
  staleness.front() = 1;
  staleness.back() = 1;
  figures.line = NodeMetrics{.staleness_mean = 300000, .staleness = staleness};
  const std::string text = Exposition(kNode, figures);
  EXPECT_THAT(text, HasSubstr("grapevine_staleness_steps_bucket{rank=\"2\",le=\"32767\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_staleness_steps_bucket{rank=\"2\",le=\"+Inf\"} 2\n"));
}

TEST(Exposition, PeersAreItsNeighbours) {
  NodeFigures figures;
  figures.connected = {{1, true}, {3, false}};
  figures.awaited = {3};
  figures.waited = {{3, std::chrono::milliseconds(1250)}, {7, std::chrono::seconds(9)}};
  const std::string text = Exposition(kNode, figures);
  EXPECT_THAT(text, HasSubstr("grapevine_peer_up{rank=\"2\",peer=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_peer_up{rank=\"2\",peer=\"3\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_peer_awaited{rank=\"2\",peer=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_peer_awaited{rank=\"2\",peer=\"3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_peer_wait_seconds_total{rank=\"2\",peer=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_peer_wait_seconds_total{rank=\"2\",peer=\"3\"} 1.25\n"));
  EXPECT_THAT(text, Not(HasSubstr("peer=\"7\""))) << "it is no neighbour any more";
}

// Whoever has rank 0's role says it, and that may be another one tomorrow.
TEST(Exposition, WhatIsOfTheRunIsOfNoRank) {
  NodeFigures figures;
  figures.run = RunFigures{.latest = {.train_loss = 0.5, .consensus_distance = 0.25}, .living = 3};
  const std::string text = Exposition(kNode, figures);
  EXPECT_THAT(text, HasSubstr("grapevine_living_nodes 3\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_consensus_distance 0.25\n"));
  EXPECT_THAT(text, HasSubstr("grapevine_run_training_loss 0.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("grapevine_test_loss")));
}

}  // namespace
}  // namespace grapevine
