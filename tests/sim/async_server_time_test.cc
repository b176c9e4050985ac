// How long asynchronous parameter servers take, with a slow worker and without.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "algorithm/algorithm_kind.h"
#include "tests/sim/timed_run.h"
#include "tests/testing/registered_specs.h"

namespace grapevine::testing {
namespace {

constexpr Rank kWorkers = 8;

// Gradients of all workers together, relative to those of workers that never wait.
double ServerRate(const std::string& algorithm, bool slow) {
  constexpr Round kRounds = 200;
  TimedRun run{.algorithm = algorithm, .nodes = kWorkers + 1, .rounds = kRounds, .elements = 2'700};
  run.compute = slow ? std::shared_ptr<const ComputeTime>(std::make_shared<OneIsSlow>(3))
                     : std::make_shared<FixedComputeTime>(kGradient);
  return static_cast<double>(kRounds * kGradient) / static_cast<double>(run.Last());
}

TEST(AsyncServerTime, ASlowWorkerCostsLittleMoreThanItsOwnGradients) {
  const double without = ServerRate("ps:async", false);
  EXPECT_GT(without, 0.9);
  EXPECT_GT(ServerRate("ps:async", true), 0.85 * without);
  EXPECT_LT(ServerRate("ps", true), 0.25 * ServerRate("ps", false)) << "where all wait for it";
}

// Which gets the pace of the slowest where it is bounded, and no other.
TEST(AsyncServerTime, ABoundOnTheStalenessCostsTimeOnlyWithASlowWorker) {
  EXPECT_NEAR(ServerRate("ps:async:staleness=2", false), ServerRate("ps:async", false), 0.02);
  EXPECT_LT(ServerRate("ps:async:staleness=2", true), 0.25);
}

class MessageCount final : public SimObserver {
 public:
  void OnMessage(const MessageTimes& message) override {
    ++messages_;
    bytes_ += message.bytes;
  }
  int64_t messages() const { return messages_; }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t messages_ = 0;
  int64_t bytes_ = 0;
};

// But for the last rounds, in which a worker that comes to its limit gives what it has.
TEST(AsyncServers, SendWhatTheySayInAsManyRounds) {
  constexpr Round kRounds = 60;
  constexpr Round kLast = 4;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    for (const std::string& spec : ExamplesOf(*kind)) {
      const bool served = EvaluatedModelOf(spec) == EvaluatedModel::kServersWeights;
      if (HasRounds(spec) || !served) continue;
      SCOPED_TRACE(spec);
      MessageCount count;
      TimedRun run{.algorithm = spec,
                   .rounds = kRounds,
                   .network = {.bandwidth = 1, .latency = 100'000},
                   .compute = std::make_shared<FixedComputeTime>(kGradient),
                   .observer = &count};
      run.Last();
      const double messages = *MessagesPerRound(spec, **MakeTopology("ring", run.nodes, 1), {});
      EXPECT_GE(static_cast<double>(count.messages()), messages * kRounds);
      // The servers are the last ranks; each exchange is two messages with each.
      const Rank workers = *WorkerCount(spec, run.nodes);
      const Rank servers = run.nodes - workers;
      const double exchanges = static_cast<double>(count.messages()) / (2 * workers * servers);
      EXPECT_LE(exchanges, messages / (2 * workers * servers) * kRounds + kLast);
      const auto replica = run.elements * static_cast<int64_t>(sizeof(float));
      EXPECT_LE(count.bytes(), count.messages() / servers * replica);
    }
  }
}

// With one server the exchange of a worker alone takes four latencies, for offer, credit, gradient
// and weights, and the bytes of these two.
TEST(AsyncServerTime, AnExchangeTakesFourLatenciesAndTwoReplicas) {
  constexpr double kBandwidth = 1e9 / 8e9;  // bytes per nanosecond
  constexpr Nanoseconds kLatency = 1'000'000;
  TimedRun run{.algorithm = "ps:async",
               .nodes = 2,
               .network = {.bandwidth = kBandwidth, .latency = kLatency},
               .compute = std::make_shared<FixedComputeTime>(kGradient)};
  const double expected = kGradient + 4.0 * kLatency + 2 * 1.08e6 / kBandwidth;
  EXPECT_NEAR(1e9 * run.SecondsPerRound() / expected, 1, 1e-3);
}

// The server's interface carries a gradient and the weights for each of its workers, both ways at
// once.
TEST(AsyncServerTime, ManyWorkersAreBoundByTheServersInterface) {
  constexpr double kBandwidth = 1e9 / 8e9;
  TimedRun run{.algorithm = "ps:async",
               .nodes = kWorkers + 1,
               .network = {.bandwidth = kBandwidth, .latency = 100'000},
               .compute = std::make_shared<FixedComputeTime>(kGradient)};
  const double expected = kWorkers * 1.08e6 / kBandwidth;
  EXPECT_NEAR(1e9 * run.SecondsPerRound() / expected, 1, 0.05);
  run.algorithm = "ps:async:servers=4";
  run.nodes = kWorkers + 4;
  EXPECT_LT(1e9 * run.SecondsPerRound(), 0.6 * expected) << "and four have four";
}

}  // namespace
}  // namespace grapevine::testing
