#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "run/timing/compute_time.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/step_observers.h"
#include "tests/sim/timed_run.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

// One round of a node, told by hand.
class StoryTeller {
 public:
  explicit StoryTeller(StepStatistics* statistics) : statistics_(statistics) {}

  StoryTeller& Gradient(Rank rank, Round round, Nanoseconds begin, Nanoseconds end) {
    statistics_->OnGradient({.rank = rank, .round = round, .loss = 0, .begin = begin, .end = end});
    return *this;
  }
  StoryTeller& Arithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
    statistics_->OnArithmetic(rank, begin, end);
    return *this;
  }
  StoryTeller& Message(Rank from, Rank to, Round round, Nanoseconds arrived) {
    statistics_->OnMessage({.from = from,
                            .to = to,
                            .tag = {.index = round},
                            .id = {},
                            .round = round,
                            .bytes = 1000,
                            .note = {},
                            .asked = 0,
                            .begun = 0,
                            .left = arrived,
                            .arrived = arrived});
    return *this;
  }
  StoryTeller& Boundary(Rank rank, Round completed, Nanoseconds now) {
    EXPECT_TRUE(statistics_->OnBoundary(rank, completed, now, Vec{}).ok());
    return *this;
  }

 private:
  StepStatistics* const statistics_;
};

// Ranks and nanoseconds.
using Waits = std::vector<std::pair<int64_t, int64_t>>;

Waits Pairs(const std::vector<WaitedFor>& waits) {
  Waits pairs;
  for (const WaitedFor& wait : waits) {
    pairs.emplace_back(wait.rank, std::llround(wait.seconds * 1e9));
  }
  return pairs;
}

// Of a simulation that goes on from round 10, at 1000 ns.
TEST(StepStatistics, AreOfTheStepsSinceTheFirst) {
  StepStatistics statistics({.nodes = 2, .bandwidth = 10, .begin_time = 1000, .begin = 10});
  EXPECT_EQ(statistics.Result().time_s, 0);
  StoryTeller(&statistics)
      .Gradient(0, 10, 1000, 1100)
      .Message(1, 0, 10, 1200)
      .Boundary(0, 11, 1200);
  const Statistics result = statistics.Result();
  EXPECT_NEAR(result.time_s, 200e-9, 1e-15);
  EXPECT_EQ(result.listed[0].steps, 1);
  EXPECT_NEAR(result.ingress_utilization->max, 0.5, 1e-12) << "1000 bytes of 10 a nanosecond";
}

// It was lost in round 1, and comes in again behind round 5.
TEST(StepStatistics, OfANodeThatComesBackAreOfTheStepsThatItTakes) {
  StepStatistics statistics({.nodes = 2});
  StoryTeller teller(&statistics);
  teller.Gradient(0, 0, 0, 100).Boundary(0, 1, 100).Gradient(0, 1, 100, 190);
  ASSERT_TRUE(statistics.OnReturn(0, 5, 1000).ok());
  teller.Gradient(0, 5, 1000, 1100).Message(1, 0, 5, 1120).Boundary(0, 6, 1120);
  const Statistics result = statistics.Result();
  EXPECT_EQ(result.listed[0].steps, 2);
  EXPECT_DOUBLE_EQ(result.listed[0].gradient_s, 200e-9) << "of those that it has finished";
  EXPECT_DOUBLE_EQ(result.listed[0].wait_s, 20e-9);
  EXPECT_EQ(result.steps.max(), 120);
  EXPECT_DOUBLE_EQ(result.time_s, 1120e-9);
}

TEST(StepStatistics, DivideAStepIntoItsParts) {
  StepStatistics statistics({.nodes = 3});
  StoryTeller(&statistics)
      .Gradient(0, 0, 0, 100)
      .Message(1, 0, 0, 130)
      .Message(2, 0, 0, 150)
      .Arithmetic(0, 150, 170)
      .Boundary(0, 1, 170);
  const Statistics result = statistics.Result();
  ASSERT_EQ(result.listed.size(), 3u);
  const NodeStatistics& node = result.listed[0];
  EXPECT_EQ(node.steps, 1);
  EXPECT_DOUBLE_EQ(node.gradient_s, 100e-9);
  EXPECT_DOUBLE_EQ(node.mix_s, 20e-9);
  EXPECT_DOUBLE_EQ(node.wait_s, 50e-9);
  EXPECT_EQ(Pairs(node.waited_for), (Waits{{2, 50}})) << "the last one";
  EXPECT_EQ(node.bytes_received, 2000);
  EXPECT_EQ(result.listed[1].bytes_sent, 1000);
  EXPECT_EQ(result.steps.count(), 1);
  EXPECT_EQ(result.steps.max(), 170);
  EXPECT_DOUBLE_EQ(result.time_s, 170e-9);
  EXPECT_EQ(Pairs(result.waited_for), (Waits{{2, 50}}));
}

TEST(StepStatistics, ArithmeticBesideTheGradientCountsOnce) {
  StepStatistics statistics({.nodes = 2});
  StoryTeller(&statistics)
      .Arithmetic(0, 10, 40)
      .Gradient(0, 0, 0, 100)
      .Message(1, 0, 0, 120)
      .Arithmetic(0, 120, 130)
      .Boundary(0, 1, 130);
  const NodeStatistics node = statistics.Result().listed[0];
  EXPECT_DOUBLE_EQ(node.mix_s, 40e-9);
  EXPECT_DOUBLE_EQ(node.wait_s, 20e-9) << "from 100 to 120";
}

TEST(StepStatistics, NobodyIsWaitedForWhenTheGradientIsLast) {
  StepStatistics statistics({.nodes = 2});
  StoryTeller(&statistics).Message(1, 0, 0, 90).Gradient(0, 0, 0, 100).Boundary(0, 1, 100);
  const Statistics result = statistics.Result();
  EXPECT_EQ(result.wait_s, 0);
  EXPECT_THAT(result.waited_for, ::testing::IsEmpty());
}

TEST(StepStatistics, AMessageOfALaterRoundIsNotWaitedFor) {
  StepStatistics statistics({.nodes = 3});
  StoryTeller(&statistics)
      .Gradient(0, 0, 0, 10)
      .Message(1, 0, 0, 50)
      .Message(2, 0, 1, 55)
      .Boundary(0, 1, 60);
  EXPECT_EQ(Pairs(statistics.Result().waited_for), (Waits{{1, 50}}));
}

TEST(StepStatistics, KeepTheWorstOfManyPeers) {
  StepStatistics statistics({.nodes = 10});
  StoryTeller story(&statistics);
  Nanoseconds now = 0;
  // Everybody once, and rank 7 always in between.
  for (Round round = 0; round < 18; ++round) {
    const Rank peer = round % 2 == 0 ? 7 : static_cast<Rank>(1 + round / 2);
    story.Gradient(0, round, now, now + 10)
        .Message(peer, 0, round, now + 1010)
        .Boundary(0, round + 1, now + 1010);
    now += 1010;
  }
  const Statistics result = statistics.Result();
  ASSERT_EQ(result.listed[0].waited_for.size(), 4u);
  EXPECT_EQ(result.listed[0].waited_for[0].rank, 7);
  EXPECT_GE(result.listed[0].waited_for[0].seconds, 9999e-9);
  EXPECT_EQ(result.waited_for[0].rank, 7) << "of all together every one is known";
  EXPECT_DOUBLE_EQ(result.waited_for[0].seconds, 10'000e-9);
  EXPECT_DOUBLE_EQ(result.waited_for[1].seconds, 1000e-9);
  EXPECT_EQ(result.waited_for[1].rank, 1) << "the lower rank first among equals";
}

// Three nodes that all know each other, one five times as slow: the others wait
// for it four fifths of each step.
TEST(StepStatistics, NameTheStragglerOfASimulation) {
  constexpr Round kRounds = 50;
  const double bandwidth = 0.125;
  StepStatistics statistics({.nodes = 3, .bandwidth = bandwidth});
  const TimedRun run{
      .topology = "complete",
      .nodes = 3,
      .rounds = kRounds,
      .network = {.bandwidth = bandwidth, .latency = 50'000},
      .compute = WithStragglers(std::make_unique<FixedComputeTime>(20 * kMillisecond),
                                *Stragglers::Make("rank=2:factor=5", {}, 3, 1)),
      .observer = &statistics};
  run.Last();
  const Statistics result = statistics.Result();
  EXPECT_EQ(result.steps.count(), 3 * kRounds);
  // The others end once the slow one's last replica has come: it left as its last
  // gradient began, with another one at its side.
  const double last = (kRounds - 1) * 100e-3 + 2 * 1.08e6 / 0.125e9 + 50e-6;
  EXPECT_NEAR(result.steps.mean() * 1e-9, (kRounds * 100e-3 + 2 * last) / (3 * kRounds), 1e-9);
  EXPECT_NEAR(result.gradient_s, (20e-3 + 20e-3 + 100e-3) / 3, 1e-9);
  const double waiting = last - kRounds * 20e-3;
  EXPECT_NEAR(result.wait_s, 2 * waiting / (3 * kRounds), 1e-9);
  ASSERT_FALSE(result.waited_for.empty());
  EXPECT_EQ(result.waited_for[0].rank, 2);
  EXPECT_NEAR(result.waited_for[0].seconds, 2 * waiting, 1e-6);
  EXPECT_LT(result.listed[2].wait_s, 1e-6);
  // Two replicas of 1.08 MB to each of two neighbours in 100 ms.
  ASSERT_TRUE(result.egress_utilization.has_value());
  EXPECT_NEAR(result.egress_utilization->mean, 2 * 1.08e6 / (0.125 * 100e6), 1e-9);
  EXPECT_EQ(result.bytes_sent.min, kRounds * 2 * 1.08e6);
  EXPECT_EQ(result.bytes_received.max, kRounds * 2 * 1.08e6);
}

TEST(StepStatistics, AServerTakesNoSteps) {
  StepStatistics statistics({.nodes = 4, .workers = 3});
  const TimedRun run{.algorithm = "ps",
                     .nodes = 4,
                     .rounds = 10,
                     .compute = std::make_shared<FixedComputeTime>(kMillisecond),
                     .observer = &statistics};
  run.Last();
  const Statistics result = statistics.Result();
  EXPECT_EQ(result.steps.count(), 30);
  EXPECT_EQ(result.nodes, 4);
  EXPECT_EQ(result.waited_for[0].rank, 3) << "the server";
}

// An asynchronous server waits for its workers between two updates, which costs nobody a step.
TEST(StepStatistics, AServersOwnWaitingIsNotThatOfSteps) {
  StepStatistics statistics({.nodes = 3, .workers = 2});
  StoryTeller(&statistics)
      .Message(1, 2, 0, 900)
      .Boundary(2, 1, 900)
      .Gradient(0, 0, 0, 800)
      .Message(2, 0, 0, 1000)
      .Boundary(0, 1, 1000);
  const Statistics result = statistics.Result();
  EXPECT_DOUBLE_EQ(result.wait_s, 200e-9);
  EXPECT_EQ(Pairs(result.waited_for), (Waits{{2, 200}}));
  EXPECT_THAT(ToReadableText(result), HasSubstr("most of the waiting was for rank 2 (100.0 %)\n"));
  EXPECT_EQ(Pairs(result.listed[2].waited_for), (Waits{{1, 900}})) << "each node has its own";
}

TEST(StepStatistics, ListTheWorstOfManyNodes) {
  constexpr Rank kNodes = 100;
  StepStatistics statistics({.nodes = kNodes});
  StoryTeller story(&statistics);
  for (Rank rank = 0; rank < kNodes; ++rank) {
    story.Message((rank + 1) % kNodes, rank, 0, 1000 + rank).Boundary(rank, 1, 1000 + rank);
  }
  const Statistics result = statistics.Result();
  ASSERT_EQ(result.listed.size(), StepStatistics::kMaxListed);
  EXPECT_EQ(result.listed.front().rank, 36);
  EXPECT_EQ(result.listed.back().rank, 99);
  EXPECT_EQ(result.waited_for.size(), 10u);
}

TEST(StepStatistics, AreWrittenAsJsonAndAsText) {
  StepStatistics statistics({.nodes = 2, .bandwidth = 1});
  StoryTeller(&statistics)
      .Gradient(0, 0, 0, 60 * kMillisecond)
      .Message(1, 0, 0, 90 * kMillisecond)
      .Arithmetic(0, 90 * kMillisecond, 100 * kMillisecond)
      .Boundary(0, 1, 100 * kMillisecond);
  const Statistics result = statistics.Result();
  const auto json = JsonOf(ToJsonText(result));
  EXPECT_EQ(json["nodes"], 2);
  EXPECT_EQ(json["steps"]["count"], 1);
  EXPECT_DOUBLE_EQ(json["steps"]["p95_s"], 0.1);
  EXPECT_DOUBLE_EQ(json["wait_s"], 0.03);
  EXPECT_EQ(json["waited_for"][0]["rank"], 1);
  EXPECT_DOUBLE_EQ(json["egress_utilization"]["max"], 1000 / 100e6);
  EXPECT_EQ(json["listed"][0]["waited_for"][0]["rank"], 1);
  EXPECT_EQ(json["listed"][1]["bytes_sent"], 1000);
  const std::string text = ToReadableText(result);
  EXPECT_THAT(text, HasSubstr("a step takes 100 ms (median 100 ms, 95 % within 100 ms"));
  EXPECT_THAT(text, HasSubstr("gradient 60.0 %, mixing 10.0 %, waiting 30.0 %"));
  EXPECT_THAT(text, HasSubstr("most of the waiting was for rank 1 (100.0 %)"));
}

TEST(ObserverGroup, TellsAllAndReturnsTheFirstError) {
  StepStatistics first({.nodes = 1});
  StepStatistics second({.nodes = 1});
  class Failing final : public SimObserver {
    absl::Status OnBoundary(Rank, Round, Nanoseconds, Vec) override {
      return absl::InternalError("full");
    }
  } failing;
  ObserverGroup group;
  for (SimObserver* observer :
       {static_cast<SimObserver*>(&first), static_cast<SimObserver*>(&failing),
        static_cast<SimObserver*>(&second)}) {
    group.Add(observer);
  }
  group.OnGradient({.rank = 0, .round = 0, .loss = 0, .begin = 0, .end = 5});
  group.OnArithmetic(0, 5, 7);
  EXPECT_EQ(group.OnBoundary(0, 1, 7, Vec{}).message(), "full");
  for (const StepStatistics* statistics : {&first, &second}) {
    EXPECT_EQ(statistics->Result().steps.max(), 7);
    EXPECT_DOUBLE_EQ(statistics->Result().mix_s, 2e-9);
  }
}

}  // namespace
}  // namespace grapevine::testing
