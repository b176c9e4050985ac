// What the simulator says of whole rounds, against what can be said by hand.
#include "sim/engine/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "random/keyed_random.h"
#include "sim/network/packet_network.h"
#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

// 1.08 MB at 1 Gbit/s.
constexpr double kTransfer = 8.64e-3;

// The networks of the published table: 5 Mbit/s with 0.15 ms, 1 Gbit/s with 64 ms.
constexpr NicOptions kSlowSwitch{.bandwidth = 5e6 / 8e9, .latency = 150'000};
constexpr NicOptions kFarSwitch{.bandwidth = 1e9 / 8e9, .latency = 64 * kMillisecond};

struct TableCell {
  const char* algorithm;
  const char* topology;
  Rank nodes;  // processes: workers and, for ps, one server
  NicOptions network;
  double seconds;
};

class CheckTable : public ::testing::TestWithParam<TableCell> {};

// algorithms: D-PSGD alpha + d t; ring allreduce 2(n-1)(alpha + t/n); parameter
// server 2(alpha + n t) with the server outside the n workers.
TEST_P(CheckTable, SecondsPerRound) {
  const TableCell& cell = GetParam();
  const TimedRun run{.algorithm = cell.algorithm,
                     .topology = cell.topology,
                     .nodes = cell.nodes,
                     .network = cell.network};
  EXPECT_NEAR(run.SecondsPerRound() / cell.seconds, 1, 0.01) << run.SecondsPerRound();
}

constexpr double kSlowTransfer = 1.728;  // 1.08 MB at 5 Mbit/s

INSTANTIATE_TEST_SUITE_P(
    Seven, CheckTable,
    ::testing::Values(
        TableCell{"allreduce", "ring", 7, kSlowSwitch, 12 * (150e-6 + kSlowTransfer / 7)},
        TableCell{"allreduce", "ring", 7, kFarSwitch, 12 * (64e-3 + kTransfer / 7)},
        TableCell{"ps", "ring", 8, kSlowSwitch, 2 * (150e-6 + 7 * kSlowTransfer)},
        TableCell{"ps", "ring", 8, kFarSwitch, 2 * (64e-3 + 7 * kTransfer)},
        TableCell{"dpsgd", "ring", 7, kSlowSwitch, 150e-6 + 2 * kSlowTransfer},
        TableCell{"dpsgd", "ring", 7, kFarSwitch, 64e-3 + 2 * kTransfer},
        TableCell{"dpsgd", "one-peer-exponential", 7, kSlowSwitch, 150e-6 + kSlowTransfer},
        TableCell{"dpsgd", "one-peer-exponential", 7, kFarSwitch, 64e-3 + kTransfer}));

INSTANTIATE_TEST_SUITE_P(
    HundredAndTwelve, CheckTable,
    ::testing::Values(
        TableCell{"allreduce", "ring", 112, kSlowSwitch, 222 * (150e-6 + kSlowTransfer / 112)},
        TableCell{"allreduce", "ring", 112, kFarSwitch, 222 * (64e-3 + kTransfer / 112)},
        TableCell{"ps", "ring", 113, kSlowSwitch, 2 * (150e-6 + 112 * kSlowTransfer)},
        TableCell{"ps", "ring", 113, kFarSwitch, 2 * (64e-3 + 112 * kTransfer)},
        TableCell{"dpsgd", "ring", 112, kSlowSwitch, 150e-6 + 2 * kSlowTransfer},
        TableCell{"dpsgd", "ring", 112, kFarSwitch, 64e-3 + 2 * kTransfer},
        TableCell{"dpsgd", "one-peer-exponential", 112, kSlowSwitch, 150e-6 + kSlowTransfer},
        TableCell{"dpsgd", "one-peer-exponential", 112, kFarSwitch, 64e-3 + kTransfer}));

// AWC: the replicas travel while the gradient is computed.
TEST(Simulation, CommunicationHidesBehindCompute) {
  TimedRun run{.network = kFarSwitch,
               .compute = std::make_shared<FixedComputeTime>(200 * kMillisecond)};
  EXPECT_NEAR(run.SecondsPerRound(), 0.2, 1e-9);
  run.compute = std::make_shared<FixedComputeTime>(10 * kMillisecond);
  EXPECT_NEAR(run.SecondsPerRound(), 64e-3 + 2 * kTransfer, 1e-6);
}

// ATC: first the gradient, then the replicas.
TEST(Simulation, AdaptThenCombineAddsComputeAndCommunication) {
  const TimedRun run{.algorithm = "dpsgd:order=atc",
                     .network = kFarSwitch,
                     .compute = std::make_shared<FixedComputeTime>(10 * kMillisecond)};
  EXPECT_NEAR(run.SecondsPerRound(), 10e-3 + 64e-3 + 2 * kTransfer, 1e-6);
}

// With a window of 1 a replica's place is posted when its round begins, and the
// post crosses the network first.
TEST(Simulation, ACreditTakesTheLatencyUnlessItIsGrantedAhead) {
  TimedRun run{.network = kFarSwitch, .window = 1};
  EXPECT_NEAR(run.SecondsPerRound(), 2 * 64e-3 + 2 * kTransfer, 1e-6);
  run.window = 2;
  EXPECT_NEAR(run.SecondsPerRound(), 64e-3 + 2 * kTransfer, 1e-6);
}

// Where neighbours change, credits go in turn: the latency of one is hidden where
// messages are small against rate times latency, where they are large, and between.
TEST(Simulation, OnChangingGraphsARoundTakesOneLatency) {
  for (const char* topology : {"one-peer-exponential", "random-matching"}) {
    for (const double transfer : {6.4e-3, 32e-3, 64e-3, 96e-3, 128e-3, 640e-3}) {
      TimedRun run{.topology = topology,
                   .nodes = 112,
                   .elements = std::llround(transfer * 1e9 * kFarSwitch.bandwidth / 4),
                   .network = kFarSwitch,
                   .window = 1};
      EXPECT_NEAR(run.SecondsPerRound() / (2 * 64e-3 + transfer), 1, 0.01)
          << topology << ", " << transfer << " s, one round at a time";
      for (run.window = 2; run.window <= 3; ++run.window) {
        EXPECT_NEAR(run.SecondsPerRound() / (64e-3 + transfer), 1, 0.01)
            << topology << ", " << transfer << " s, window " << run.window;
      }
    }
  }
}

// Nodes of which in every round a few are late, by half of what a message takes: nobody
// keeps step.
class Unsteady final : public ComputeTime {
 public:
  int64_t Gradient(Rank rank, Round round) const override {
    KeyedRandom random(3, Purpose::kStraggler, static_cast<uint64_t>(rank),
                       static_cast<uint64_t>(round));
    return (random.Below(20) == 0 ? 250 : 10) * kMillisecond;
  }
};

// Two rounds' messages that share an interface make the earlier one late, which made a
// round nearly twice as long. In turn, two rounds at once cost nothing against one.
TEST(Simulation, OnChangingGraphsRoundsDoNotDisturbEachOther) {
  for (const char* topology : {"one-peer-exponential", "random-matching"}) {
    for (const Rank nodes : {4, 8, 32}) {
      for (const Nanoseconds latency : {kMillisecond, 5 * kMillisecond, 20 * kMillisecond}) {
        TimedRun run{.topology = topology,
                     .nodes = nodes,
                     .elements = 100'000,
                     .network = {.bandwidth = 20e6 / 8e9, .latency = latency},
                     .compute = std::make_shared<Unsteady>(),
                     .window = 1};
        run.rounds = 150;
        const Nanoseconds one = run.Last();
        run.window = 2;
        EXPECT_LE(static_cast<double>(run.Last()) / static_cast<double>(one), 1.02)
            << topology << ", " << nodes << " nodes, " << latency << " ns";
      }
    }
  }
}

// One step with 2 neighbours: 3 terms and the gradient read, the result written,
// the momentum read and written.
TEST(Simulation, MixingTakesItsBytesOverTheMemorysBandwidth) {
  const TimedRun free{.network = kFarSwitch};
  TimedRun charged = free;
  charged.memory_bandwidth = 1;  // GB/s
  EXPECT_NEAR(charged.SecondsPerRound() - free.SecondsPerRound(), 7 * 1.08e6 / 1e9, 1e-9);
}

TEST(Simulation, MessagesOccupyTheRunnersThread) {
  const TimedRun free{.network = kFarSwitch};
  TimedRun charged = free;
  charged.message_overhead = kMillisecond;
  // Two sends, one behind the other, and the receipt of the last replica.
  const double extra = charged.SecondsPerRound() - free.SecondsPerRound();
  EXPECT_GE(extra, 2e-3 - 1e-9);
  EXPECT_LE(extra, 4e-3 + 1e-9);
}

// When each node had done each round.
class Boundaries final : public SimObserver {
 public:
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec) override {
    times[{rank, completed}] = now;
    return absl::OkStatus();
  }
  std::map<std::pair<Rank, Round>, Nanoseconds> times;
};

// Nodes that are as slow as the others but for one gradient of one node.
class OneHiccup final : public ComputeTime {
 public:
  int64_t Gradient(Rank rank, Round round) const override {
    return rank == 0 && round == 2 ? 100 * kMillisecond : 10 * kMillisecond;
  }
};

TEST(Simulation, ADelaySpreadsOneHopARound) {
  Boundaries boundaries;
  const TimedRun run{.nodes = 16,
                     .rounds = 8,
                     .elements = 1,
                     .compute = std::make_shared<OneHiccup>(),
                     .observer = &boundaries};
  run.Last();
  for (Rank rank = 0; rank < 16; ++rank) {
    const Rank hops = std::min(rank, 16 - rank);
    for (Round completed = 1; completed <= 8; ++completed) {
      // Each hop hides one more gradient behind the wait.
      const Round late = completed >= 3 + hops ? 90 - 10 * hops : 0;
      EXPECT_NEAR(static_cast<double>(boundaries.times.at({rank, completed})),
                  static_cast<double>((10 * completed + late) * kMillisecond), 1000)
          << "rank " << rank << ", " << completed << " rounds";
    }
  }
}

TEST(Simulation, AStragglerHoldsUpAllOfAnAllreduceAtOnce) {
  Boundaries boundaries;
  const TimedRun run{.algorithm = "allreduce",
                     .nodes = 16,
                     .rounds = 4,
                     .elements = 16,
                     .compute = std::make_shared<OneHiccup>(),
                     .observer = &boundaries};
  run.Last();
  for (Rank rank = 0; rank < 16; ++rank) {
    const Nanoseconds third = boundaries.times.at({rank, 3}) - boundaries.times.at({rank, 2});
    EXPECT_NEAR(static_cast<double>(third), 100.0 * kMillisecond, 10'000) << "rank " << rank;
  }
}

TEST(Simulation, IsAFunctionOfItsInput) {
  TimedRun run{.topology = "one-peer-exponential", .nodes = 9, .rounds = 20, .elements = 1};
  run.compute =
      std::shared_ptr<const ComputeTime>(MakeComputeTime("exponential:mean=10ms", 7).value());
  EXPECT_EQ(run.Ended(), run.Ended());
  TimedRun other = run;
  other.compute =
      std::shared_ptr<const ComputeTime>(MakeComputeTime("exponential:mean=10ms", 8).value());
  EXPECT_NE(run.Ended(), other.Ended());
}

// An algorithm whose node 1 never answers.
class Deaf final : public Algorithm {
 public:
  explicit Deaf(Rank rank) : rank_(rank) {}
  absl::Status On(const Event& event, Host& host) override {
    if (!std::holds_alternative<Start>(event)) return absl::OkStatus();
    if (rank_ == 1) {
      host.Rest(host.New(1, "a vector"));
    } else {
      host.Post(1, {.channel = 0, .index = 7, .step = 5}, Part{host.New(1, "a vector"), 0, 1}, 0);
    }
    return absl::OkStatus();
  }
  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override {
    return {{1, {.channel = 0, .index = 7, .step = 5}}};
  }
  std::vector<Rank> Peers(Round, Round) const override { return {1 - rank_}; }

 private:
  const Rank rank_;
};

TEST(Simulation, NamesWhoWaitsForWhatCannotCome) {
  PhantomVectors vectors(1, /*step_vectors=*/2);
  const FixedComputeTime compute(0);
  auto simulation = Simulation::Make(
      {.nodes = 2},
      {.make_network =
           [](AlarmClock* clock) { return std::make_unique<NicNetwork>(2, NicOptions{}, clock); },
       .make_algorithm = [](Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
         return std::make_unique<Deaf>(rank);
       },
       .vectors = &vectors,
       .compute = &compute});
  ASSERT_TRUE(simulation.ok());
  const absl::Status status = (*simulation)->Run(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("rank 0 is stuck in round 0 after 0 ns; it waits for rank 1 "
                                   "(channel 0, index 7, step 5)"));
}

// Rank 0 sends three messages to rank 1 at once.
class Burst final : public Algorithm {
 public:
  static constexpr int64_t kElements = 250'000;  // 1 MB
  explicit Burst(Rank rank) : rank_(rank) {}
  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Start>(event)) {
      for (uint32_t step = 0; step < 3; ++step) {
        const Tag tag{.channel = 0, .index = 0, .step = step};
        const Part part{host.New(kElements, "a vector"), 0, kElements};
        if (rank_ == 0) host.Send(1, tag, part);
        if (rank_ == 1) host.Post(0, tag, part, 0);
      }
    }
    const bool done =
        std::holds_alternative<Sent>(event) || std::holds_alternative<Received>(event);
    if (done && ++done_ == 3) host.Rest(host.New(1, "a vector"));
    return absl::OkStatus();
  }
  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {1 - rank_}; }

 private:
  const Rank rank_;
  int done_ = 0;
};

// Interrupts the simulation at the arrival of the last of `most` messages.
class Arrivals final : public SimObserver {
 public:
  explicit Arrivals(size_t most) : most_(most) {}
  void OnMessage(const MessageTimes& message) override {
    times.push_back(message.arrived);
    if (times.size() == most_) interrupted = true;
  }
  std::vector<Nanoseconds> times;
  std::atomic<bool> interrupted = false;

 private:
  const size_t most_;
};

struct BurstRun {
  PhantomVectors vectors = PhantomVectors(1, /*step_vectors=*/2);
  FixedComputeTime compute = FixedComputeTime(0);
  std::unique_ptr<Simulation> simulation;

  absl::Status Run(Arrivals* arrivals) {
    const auto make_network = [](AlarmClock* clock) {
      return std::make_unique<NicNetwork>(2, NicOptions{.bandwidth = 1, .latency = kMillisecond},
                                          clock);
    };
    const auto make_algorithm = [](Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
      return std::make_unique<Burst>(rank);
    };
    simulation = *Simulation::Make({.nodes = 2}, {.make_network = make_network,
                                                  .make_algorithm = make_algorithm,
                                                  .vectors = &vectors,
                                                  .compute = &compute,
                                                  .observer = arrivals,
                                                  .interrupted = &arrivals->interrupted});
    return simulation->Run(1);
  }
};

TEST(Simulation, MessagesToOnePeerGoOneAfterTheOther) {
  Arrivals arrivals(/*most=*/4);
  BurstRun run;
  const absl::Status status = run.Run(&arrivals);
  ASSERT_TRUE(status.ok()) << status;
  // The credits take a latency, the messages another: 1 MB at 1 GB/s each.
  EXPECT_THAT(arrivals.times,
              ::testing::ElementsAre(3 * kMillisecond, 4 * kMillisecond, 5 * kMillisecond));
  // Each rests when all is there, of which the sender hears a latency later.
  EXPECT_EQ(run.simulation->rested(1), 5 * kMillisecond);
  EXPECT_EQ(run.simulation->rested(0), 6 * kMillisecond);
}

// Rank 0 sends a message to rank 1 and, when that has left, one to rank 2.
class Paced final : public Algorithm {
 public:
  static constexpr int64_t kElements = 15'000;  // 60 kB
  explicit Paced(Rank rank) : rank_(rank) {}
  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Start>(event)) {
      vector_ = host.New(kElements, "a vector");
      if (rank_ == 0) Send(1, host);
      if (rank_ > 0) host.Post(0, Tag{.channel = 0, .index = 0, .step = 0}, Whole(), 0);
    }
    if (std::holds_alternative<Left>(event) && ++left_ == 1) Send(2, host);
    if (std::holds_alternative<Sent>(event)) ++sent_;
    if (sent_ == 2 || std::holds_alternative<Received>(event)) host.Rest(vector_);
    return absl::OkStatus();
  }
  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {}; }

 private:
  Part Whole() const { return {vector_, 0, kElements}; }
  void Send(Rank to, Host& host) {
    host.Send(to, Tag{.channel = 0, .index = 0, .step = 0}, Whole());
  }

  const Rank rank_;
  Vec vector_;
  int left_ = 0;
  int sent_ = 0;
};

// When the second message begins, where the first takes 60 us to leave.
Nanoseconds SecondBegins(std::function<std::unique_ptr<NetworkModel>(AlarmClock*)> make_network) {
  PhantomVectors vectors(1, /*step_vectors=*/2);
  const FixedComputeTime compute(0);
  class Begun final : public SimObserver {
   public:
    void OnMessage(const MessageTimes& message) override { latest = message.begun; }
    Nanoseconds latest = 0;
  } begun;
  const auto simulation = Simulation::Make(
      {.nodes = 3}, {.make_network = std::move(make_network),
                     .make_algorithm = [](Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
                       return std::make_unique<Paced>(rank);
                     },
                     .vectors = &vectors,
                     .compute = &compute,
                     .observer = &begun});
  const absl::Status status = (*simulation)->Run(1);
  EXPECT_TRUE(status.ok()) << status;
  return begun.latest;
}

// What is paced by Left leaves at once, and shares the interface, where hosts have buffers.
TEST(Simulation, AMessageHasLeftForItsSenderWhenTheHostHasIt) {
  EXPECT_EQ(SecondBegins([](AlarmClock* clock) {
              return std::make_unique<NicNetwork>(
                  3, NicOptions{.bandwidth = 1, .latency = kMillisecond}, clock);
            }),
            kMillisecond + 60'000);
  EXPECT_LT(SecondBegins([](AlarmClock* clock) {
              return std::make_unique<PacketNetwork>(
                  3, PacketOptions{.bandwidth = 1, .latency = kMillisecond}, clock);
            }),
            kMillisecond + 1000);
}

TEST(Simulation, NodesBeginAtRandomWithinTheSpreadOfTheirStarts) {
  class Begins final : public SimObserver {
   public:
    void OnGradient(const GradientTimes& gradient) override {
      if (gradient.round == 0) times.push_back(gradient.begin);
    }
    std::vector<Nanoseconds> times;
  };
  const auto begins = [](Nanoseconds spread, uint64_t seed) {
    Begins observer;
    TimedRun run{.nodes = 16, .start_spread = spread, .seed = seed, .observer = &observer};
    run.compute = std::make_shared<FixedComputeTime>(kGradient);
    run.Ended();
    return observer.times;
  };
  EXPECT_THAT(begins(0, 1), ::testing::Each(0));
  const std::vector<Nanoseconds> some = begins(20 * kMillisecond, 1);
  EXPECT_EQ(some.size(), 16u);
  EXPECT_THAT(
      some, ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(20 * kMillisecond))));
  EXPECT_GT(*std::ranges::max_element(some) - *std::ranges::min_element(some), 10 * kMillisecond);
  EXPECT_EQ(begins(20 * kMillisecond, 1), some);
  EXPECT_NE(begins(20 * kMillisecond, 2), some);
}

TEST(Simulation, IsInterruptedInTheMiddleOfARound) {
  Arrivals arrivals(/*most=*/1);
  EXPECT_EQ(FailureOf(BurstRun().Run(&arrivals)), Failure::kInterrupted);
  EXPECT_THAT(arrivals.times, ::testing::ElementsAre(3 * kMillisecond));
}

}  // namespace
}  // namespace grapevine::testing
