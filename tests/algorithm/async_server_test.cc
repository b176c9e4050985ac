// Asynchronous parameter servers: their rule on schedules that a test fixes, what holds in any
// order of events, what they may cost, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "algorithm/server/async_exchange.h"
#include "tests/algorithm/idle_host.h"
#include "tests/algorithm/quadratics.h"
#include "tests/algorithm/two_workers.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "tests/testing/sightings.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AsyncPs, StepsAlongEachGradientAsItComes) {
  TwoWorkers run("ps:async");
  run.Push(0);
  EXPECT_EQ(run.stalest(), 0);
  run.Push(1);  // computed at 1
  EXPECT_EQ(run.stalest(), 1);
  run.Answer(1);
  run.Answer(0);  // with the weights of its own update
  run.Push(0);    // computed at 0.9
  EXPECT_THAT(run.weights(), ::testing::ElementsAre(1 - 0.1f, ::testing::FloatEq(0.9f - 0.2f),
                                                    ::testing::FloatEq(0.7f - 0.09f)));
  EXPECT_EQ(run.stalest(), 1);
}

TEST(AsyncPs, DynSgdDividesByTheStalenessAndOne) {
  TwoWorkers run("ps:async:adaptive");
  run.Push(0);
  run.Push(1);
  run.Answer(0);
  run.Push(0);
  EXPECT_THAT(run.weights(), ::testing::ElementsAre(1 - 0.1f, ::testing::FloatEq(0.9f - 0.2f / 2),
                                                    ::testing::FloatEq(0.8f - 0.09f / 2)));
}

// A run in which every gradient that a server applies is looked for among those that workers have
// computed.
class Watched {
 public:
  Watched(const std::string& algorithm, Rank servers, Rank workers, uint64_t order_seed,
          double learning_rate = 0.1)
      : servers_(servers),
        workers_(workers),
        learning_rate_(learning_rate),
        applied_(servers),
        weights_(servers),
        cluster_(
            {.algorithm = algorithm + ":servers=" + std::to_string(servers),
             .nodes = workers + servers,
             .parameters = kParameters,
             .learning_rate = learning_rate,
             .order_seed = order_seed,
             .initial = [](Rank, std::span<float> x) { RandomStart(0, x); },
             .gradient =
                 [this](Rank rank, Round step, std::span<const float> x,
                        std::span<float> gradient) {
                   Quadratic(1, 1, 3, UnlikeOptimum)(rank, step, x, gradient);
                   gradients_.push_back({x.begin(), x.end(), gradient.begin(), gradient.end()});
                 },
             .at_boundary =
                 [this](Rank rank, Round version, std::span<const float> model) {
                   if (rank >= workers_) OnUpdate(rank - workers_, version, model);
                 }}) {
    std::vector<float> start(kParameters);
    RandomStart(0, start);
    for (Rank server = 0; server < servers; ++server) {
      const auto [begin, end] = Range(server);
      weights_[server].push_back({start.begin() + begin, start.begin() + end});
    }
  }

  void Run(Round rounds) {
    const absl::Status status = cluster_.Run(rounds);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(gradients_.size(), static_cast<size_t>(rounds * workers_));
    for (const std::set<size_t>& applied : applied_) {
      EXPECT_EQ(applied.size(), gradients_.size()) << "each once";
    }
    for (Rank server = 0; server < servers_; ++server) {
      const std::span<const float> last = cluster_.replica(workers_ + server);
      EXPECT_TRUE(std::ranges::equal(last, weights_[server].back()));
    }
  }

 private:
  static constexpr int64_t kParameters = 7;

  struct Computed {
    Computed(auto x, auto x_end, auto g, auto g_end) : at(x, x_end), gradient(g, g_end) {}
    std::vector<float> at, gradient;
  };

  std::pair<int64_t, int64_t> Range(Rank server) const {
    return {kParameters * server / servers_, kParameters * (server + 1) / servers_};
  }

  void OnUpdate(Rank server, Round version, std::span<const float> model) {
    ASSERT_EQ(weights_[server].size(), static_cast<size_t>(version));
    const std::vector<float> before = weights_[server].back();
    weights_[server].push_back({model.begin(), model.end()});
    const auto [begin, end] = Range(server);
    for (size_t i = 0; i < gradients_.size(); ++i) {
      double error = 0;
      for (int64_t k = begin; k < end; ++k) {
        const double expected =
            double{before[k - begin]} - learning_rate_ * double{gradients_[i].gradient[k]};
        error = std::max(error, std::abs(expected - double{model[k - begin]}));
      }
      if (error > 1e-6) continue;
      EXPECT_TRUE(applied_[server].insert(i).second) << "gradient " << i << " once more";
      const std::vector<float> at(gradients_[i].at.begin() + begin, gradients_[i].at.begin() + end);
      EXPECT_THAT(weights_[server], ::testing::Contains(at)) << "some version of the weights";
      return;
    }
    ADD_FAILURE() << "server " << server << ", version " << version << ": along no gradient";
  }

  const Rank servers_;
  const Rank workers_;
  const double learning_rate_;
  std::vector<Computed> gradients_;
  std::vector<std::set<size_t>> applied_;                 // by server
  std::vector<std::vector<std::vector<float>>> weights_;  // by server, by version
  Cluster cluster_;
};

TEST(AsyncPs, AppliesEveryGradientOnceInAnyOrderOfEvents) {
  for (const char* algorithm : {"ps:async", "ps:async:staleness=0", "ps:async:staleness=2"}) {
    for (const Rank servers : {1, 2, 3}) {
      for (const Rank workers : {1, 2, 5}) {
        for (const uint64_t seed : Seeds(6)) {
          SCOPED_TRACE(::testing::Message() << algorithm << ", " << servers << " servers, "
                                            << workers << " workers, order seed " << seed);
          Watched(algorithm, servers, workers, seed).Run(15);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// How far ahead of others workers begin their steps.
class Leads {
 public:
  Leads(const std::string& algorithm, Rank workers, Rank nodes, uint64_t order_seed)
      : begun_(workers),
        asked_(workers),
        resumed_(workers),
        cluster_(
            {.algorithm = algorithm,
             .nodes = nodes,
             .parameters = 3,
             .order_seed = order_seed,
             .gradient =
                 [this, quadratic = Quadratic(1, 1, 1)](
                     Rank rank, Round step, std::span<const float> x, std::span<float> gradient) {
                   quadratic(rank, step, x, gradient);
                   OnBegin(rank, step);
                 },
             .transcript = [this](Rank rank, const std::string& what) { Hear(rank, what); }}) {}

  // The largest that any worker had of one that was not at its limit when it was answered.
  int64_t LargestIn(Round rounds) {
    const absl::Status status = cluster_.Run(rounds);
    EXPECT_TRUE(status.ok()) << status;
    return largest_;
  }

 private:
  void Hear(Rank rank, const std::string& what) {
    ++now_;
    if (rank >= static_cast<Rank>(begun_.size()) || !what.starts_with("offers ")) return;
    asked_[rank] = now_;
    if (what.find("step 2") != std::string::npos) rested_.insert(rank);
  }

  void OnBegin(Rank rank, Round step) {
    begun_[rank] = step + 1;
    if (rested_.erase(rank) > 0) resumed_[rank] = now_;
    for (size_t other = 0; other < begun_.size(); ++other) {
      if (rested_.contains(static_cast<Rank>(other)) || resumed_[other] > asked_[rank]) continue;
      largest_ = std::max(largest_, step - begun_[other]);
    }
  }

  std::vector<Round> begun_;    // steps, by worker
  std::vector<int64_t> asked_;  // when, last
  std::set<Rank> rested_;       // have told that they are at their limits, and begun no step since
  std::vector<int64_t> resumed_;  // when it began the first step after that
  int64_t now_ = 0;
  int64_t largest_ = 0;
  Cluster cluster_;
};

TEST(AsyncPs, BoundsHowFarAWorkerGetsAhead) {
  PlaySeeds(20, 1, [](uint64_t seed, Sightings& seen) {
    for (const int64_t bound : {0, 1, 3}) {
      for (const Rank servers : {1, 2, 3}) {
        const int64_t lead = Leads("ps:async:staleness=" + std::to_string(bound) +
                                       ":servers=" + std::to_string(servers),
                                   4, 4 + servers, seed)
                                 .LargestIn(40);
        EXPECT_LE(lead, bound) << servers << " servers, order seed " << seed;
        if (bound == 3) seen.Count("a lead of 2, where 3 may be", lead >= 2);
      }
    }
    seen.Count("a lead above 3 without a bound", Leads("ps:async", 4, 5, seed).LargestIn(40) > 3);
  });
}

TEST(StalenessGate, LetsNobodyPassWhoIsTooFarAheadOfThoseWhoGoOn) {
  StalenessGate gate(3, 1);
  for (int step = 0; step < 2; ++step) {
    EXPECT_TRUE(gate.Passes(0));
    gate.On(0, Ask::kPush);
  }
  EXPECT_FALSE(gate.Passes(0)) << "two ahead";
  gate.On(1, Ask::kPush);
  EXPECT_TRUE(gate.Passes(1));
  EXPECT_FALSE(gate.Passes(0)) << "of worker 2";
  gate.On(2, Ask::kLastPush);
  EXPECT_TRUE(gate.Passes(2));
  EXPECT_TRUE(gate.Passes(0)) << "one ahead of worker 1, and nobody waits for 2";
  gate.On(0, Ask::kPush);
  gate.On(0, Ask::kPush);
  gate.On(1, Ask::kLastPush);
  EXPECT_TRUE(gate.Passes(0)) << "alone";
  gate.On(2, Ask::kPull);
  EXPECT_FALSE(gate.Passes(0)) << "2 is back, three behind";
}

TEST(StalenessGate, KnowsWhatMayBeAsked) {
  StalenessGate bounded(2, 5);
  EXPECT_TRUE(bounded.Allows(0, Ask::kPush));
  EXPECT_TRUE(bounded.Allows(0, Ask::kLastPush));
  EXPECT_FALSE(bounded.Allows(0, Ask::kPull)) << "nobody has stopped it";
  bounded.On(0, Ask::kLastPush);
  EXPECT_TRUE(bounded.Allows(0, Ask::kPull));
  EXPECT_FALSE(bounded.Allows(0, Ask::kPush));
  const StalenessGate unbounded(2, std::nullopt);
  EXPECT_TRUE(unbounded.Allows(0, Ask::kPush));
  EXPECT_FALSE(unbounded.Allows(0, Ask::kLastPush));
}

// As the quadratics' noise allows.
TEST(AsyncPs, Learns) {
  for (const char* algorithm :
       {"ps:async", "ps:async:adaptive", "ps:async:staleness=1:servers=2"}) {
    for (const Rank nodes : {3, 5, 8}) {
      Cluster cluster({.algorithm = algorithm,
                       .nodes = nodes,
                       .parameters = 20,
                       .learning_rate = 0.02,
                       .initial = [](Rank, std::span<float> x) { RandomStart(0, x); },
                       .gradient = Quadratic(1, 0, 1, [](Rank) { return 2.0; })});
      const absl::Status status = cluster.Run(600);
      ASSERT_TRUE(status.ok()) << status;
      for (Rank rank = *WorkerCount(algorithm, nodes); rank < nodes; ++rank) {
        for (const float x : cluster.replica(rank)) {
          EXPECT_NEAR(x, 2, 1e-3) << algorithm << " of " << nodes << ", rank " << rank;
        }
      }
    }
  }
}

// One worker is never stale: plain SGD, to the bit, momentum included.
TEST(AsyncPs, OneWorkerLearnsAsASynchronousServersDoes) {
  const auto model = [](const char* algorithm) {
    Cluster cluster({.algorithm = algorithm,
                     .nodes = 3,
                     .parameters = 20,
                     .momentum = 0.9,
                     .gradient = Quadratic(1, 1, 1)});
    EXPECT_TRUE(cluster.Run(50).ok());
    return std::vector<float>(cluster.replica(0).begin(), cluster.replica(0).end());
  };
  const std::vector<float> expected = model("ps:servers=2");
  EXPECT_EQ(model("ps:async:servers=2"), expected);
  EXPECT_EQ(model("ps:async:adaptive:staleness=0:servers=2"), expected);
}

// Of the size of its range: the weights, the momentum, two gradients, and an answer of other
// weights.
TEST(AsyncPs, AServersMemoryDoesNotDependOnTheNumberOfWorkers) {
  constexpr int64_t kElements = 60;
  for (const Rank servers : {1, 3}) {
    for (const char* bound : {"", ":staleness=1"}) {
      for (const Rank workers : {4, 32}) {
        int64_t largest = 0;
        for (uint64_t seed = 1; seed <= 5; ++seed) {
          Cluster cluster({.algorithm = "ps:async:servers=" + std::to_string(servers) + bound,
                           .nodes = workers + servers,
                           .parameters = kElements,
                           .momentum = 0.9,
                           .order_seed = seed,
                           .gradient = Quadratic(1, 1, 1)});
          ASSERT_TRUE(cluster.Run(20).ok());
          for (Rank rank = 0; rank < workers; ++rank) {
            EXPECT_LE(cluster.vector_bytes(rank), 2 * kElements * int64_t{sizeof(float)});
          }
          largest = std::max(largest, cluster.vector_bytes(workers));
        }
        const int64_t shard = kElements / servers * int64_t{sizeof(float)};
        EXPECT_EQ(largest, 5 * shard) << workers << " workers, " << servers << " servers" << bound;
      }
    }
  }
  const auto ring = *MakeTopology("ring", 33, 1);
  EXPECT_EQ(*LargestMemory("ps:async", *ring, kElements, 2), 6 * kElements) << "Adam's";
  EXPECT_EQ(*LargestMemory("ps:async:servers=11", *ring, 66, 1), 2 * 66) << "a worker's";
}

TEST(AsyncPs, SaysOfItselfWhatOthersNeed) {
  EXPECT_FALSE(HasRounds("ps:async:servers=2"));
  EXPECT_TRUE(HasRounds("ps:servers=2"));
  EXPECT_EQ(EvaluatedModelOf("ps:async"), EvaluatedModel::kServersWeights);
  EXPECT_EQ(EvaluatedModelOf("ps"), EvaluatedModel::kWorkersMean);
  EXPECT_EQ(*WorkerCount("ps:async:servers=3", 8), 5);
  EXPECT_EQ(*MessagesPerRound("ps:async:servers=3", **MakeTopology("ring", 8, 1), RunLength()),
            2 * 5 * 3);
  EXPECT_EQ(StepRanges("ps:async:servers=2", 8, 10)->size(), 2u);
}

TEST(AsyncPs, RefusesWhatItCannotBe) {
  const auto error = [](const char* spec, Rank nodes) {
    const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", nodes, 1));
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("ps:async:servers=4", 4),
              AllOf(HasSubstr("4 servers of 4 nodes leave no worker"),
                    HasSubstr("lower servers to at most 3")));
  EXPECT_THAT(error("ps:staleness=3", 4), HasSubstr("staleness and adaptive follow ps:async"));
  EXPECT_THAT(error("ps:adaptive", 4), HasSubstr("staleness and adaptive follow ps:async"));
  EXPECT_THAT(error("ps:async:staleness=-1", 4), HasSubstr("staleness: -1 is less than 0"));
  EXPECT_THAT(error("ps:async:adaptve", 4), HasSubstr("unexpected 'adaptve'"));
  EXPECT_THAT(error("ps:async:window=3", 4), HasSubstr("unknown option 'window'"));
}

// What a peer may not say to rank `rank` of two workers and a server.
class AsyncPeers : public ::testing::Test {
 protected:
  std::unique_ptr<Algorithm> Begun(Rank rank, const char* algorithm = "ps:async:staleness=3",
                                   Rank nodes = 3) {
    const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", nodes, 1));
    auto node = *MakeAlgorithm(
        algorithm, {.rank = rank, .mixing = mixing, .learning_rate = [](Round) { return 0.1; }});
    EXPECT_TRUE(node->On(RoundLimit{3}, host_).ok());
    EXPECT_TRUE(node->On(Start{}, host_).ok());
    return node;
  }
  std::string Error(Algorithm& node, const Event& event) {
    return std::string(node.On(event, host_).message());
  }
  static Offered Push(Rank from, int64_t exchange = 0, Ask ask = Ask::kPush) {
    return {.from = from, .tag = AskTag(exchange, ask), .bytes = 40};
  }
  IdleHost host_{10};
};

TEST_F(AsyncPeers, OfAServerAskOneThingAtATime) {
  const auto server = Begun(2);
  EXPECT_THAT(Error(*server, Push(2)), HasSubstr("rank 2 offered channel 0, index 0, step 1, but "
                                                 "is no worker"));
  EXPECT_THAT(Error(*server, Push(0, 0, Ask::kPull)), HasSubstr("which it may not ask now"));
  EXPECT_THAT(Error(*server, Push(0, 0, Ask{7})), HasSubstr("which it may not ask now"));
  EXPECT_EQ(Error(*server, Push(0)), "");
  EXPECT_THAT(Error(*server, Push(0, 1)), HasSubstr("before it was answered"));
  EXPECT_THAT(Error(*server, Received{.from = 1, .tag = AskTag(0, Ask::kPush)}),
              HasSubstr("of rank 1 came without a post at version 0"));
  ASSERT_EQ(server->waiting_for().size(), 1u);
  EXPECT_EQ(server->waiting_for()[0].peer, 0);
  EXPECT_EQ(Error(*server, Received{.from = 0, .tag = AskTag(0, Ask::kPush)}), "");
  EXPECT_THAT(Error(*server, Received{.from = 0, .tag = AskTag(0, Ask::kPush)}),
              HasSubstr("without a post at version 1"));
  EXPECT_THAT(Error(*server, Sent{{9}}), HasSubstr("send 9 was reported at version 1"));
  EXPECT_THAT(Error(*server, Left{{9}}), HasSubstr("send 9 has left at version 1"));
  EXPECT_THAT(Error(*server, GradientReady{0}), HasSubstr("asks for none"));
  EXPECT_THAT(Error(*server, Lost{.from = 0, .tag = AskTag(0, Ask::kPush)}),
              HasSubstr("was lost, but is not awaited"));
}

TEST_F(AsyncPeers, OfAServerAskNothingAfterTheirFarewell) {
  const auto server = Begun(2);
  const Offered farewell{.from = 0, .tag = kFarewell};
  EXPECT_EQ(Error(*server, farewell), "");
  EXPECT_EQ(Error(*server, Push(0)), "") << "it has not come";
  EXPECT_EQ(Error(*server, Received{.from = 0, .tag = AskTag(0, Ask::kPush)}), "");
  EXPECT_EQ(Error(*server, Received{.from = 0, .tag = kFarewell}), "");
  EXPECT_THAT(Error(*server, Push(0, 1)), HasSubstr("after its farewell"));
  EXPECT_THAT(Error(*server, farewell), HasSubstr("after its farewell"));
  EXPECT_THAT(Error(*server, Received{.from = 0, .tag = kFarewell}),
              HasSubstr("came without a post"));
}

// Its answer may still be waiting for the worker's post: a second one would have the same tag.
TEST_F(AsyncPeers, OfAServerDoNotRepeatAnExchange) {
  const auto server = Begun(2);
  EXPECT_EQ(Error(*server, Push(0, 5)), "");
  EXPECT_EQ(Error(*server, Received{.from = 0, .tag = AskTag(5, Ask::kPush)}), "");
  for (const int64_t exchange : {5, 4}) {
    EXPECT_THAT(Error(*server, Push(0, exchange)), HasSubstr("which is not after exchange 5"));
  }
  EXPECT_EQ(Error(*server, Push(1, 5)), "") << "another worker's";
  EXPECT_EQ(Error(*server, Push(0, 6)), "");
}

// Of seven workers two whose updates take long: of the server's two places they have one.
TEST_F(AsyncPeers, OfAServerWhoTakeLongTakeTurns) {
  constexpr Rank kServer = 7;
  const auto server = Begun(kServer, "ps:async", kServer + 1);
  std::vector<int64_t> exchanges(kServer);
  const auto offer = [&](Rank worker) {
    EXPECT_EQ(Error(*server, Push(worker, exchanges[worker])), "");
  };
  const auto push = [&](Rank worker) {
    const Tag tag = AskTag(exchanges[worker]++, Ask::kPush);
    EXPECT_EQ(Error(*server, Received{.from = worker, .tag = tag}), "");
  };
  const auto leave = [&] { EXPECT_EQ(Error(*server, Left{{host_.sent.size()}}), ""); };
  const auto posted = [&](Rank worker) {
    return std::ranges::count(host_.posted, worker, &Waiting::peer) > exchanges[worker];
  };
  const auto pass = [&](Rank worker) {
    EXPECT_TRUE(posted(worker)) << worker;
    push(worker);
    leave();
  };
  for (Rank worker = 0; worker < kServer; ++worker) offer(worker);
  EXPECT_TRUE(posted(0) && posted(1)) << "nobody knows yet";
  EXPECT_FALSE(posted(2));
  for (Rank worker = 0; worker < kServer; ++worker) pass(worker);
  // While these two travelled, the five others asked. They are served one at a time from now on,
  // and the others beside them.
  for (Rank worker = 0; worker < kServer; ++worker) offer(worker);
  EXPECT_TRUE(posted(0) && posted(2));
  for (Rank worker = 2; worker < kServer; ++worker) pass(worker);
  EXPECT_FALSE(posted(1));
  push(0);
  EXPECT_FALSE(posted(1)) << "the other one's answer is on its way";
  leave();
  EXPECT_TRUE(posted(1));
  pass(1);
  // During its message nobody has asked this time.
  offer(0);
  offer(1);
  EXPECT_TRUE(posted(0) && posted(1));
}

TEST_F(AsyncPeers, OfAServerSayWhatCanBe) {
  const auto server = Begun(2);
  const auto with = [&](auto change) {
    Offered push = Push(1);
    change(push);
    return Error(*server, push);
  };
  EXPECT_THAT(with([](Offered& push) { push.bytes = 44; }), HasSubstr("44 bytes instead of 40"));
  EXPECT_THAT(with([](Offered& push) { push.note.clock = 1; }),
              HasSubstr("made at version 1, where the last one is 0"));
  EXPECT_THAT(with([](Offered& push) { push.note.clock = -1; }), HasSubstr("made at version -1"));
  for (const double gradients : {0.0, 0.5, 2.0, -1.0}) {
    EXPECT_THAT(with([&](Offered& push) { push.note.weight = gradients; }),
                HasSubstr("gradients, where 1 are the most"));
  }
  const auto unbounded = Begun(2, "ps:async");
  EXPECT_THAT(Error(*unbounded, Push(0, 0, Ask::kLastPush)), HasSubstr("may not ask now"));
}

TEST_F(AsyncPeers, OfAWorkerAnswerOnce) {
  const auto worker = Begun(0);
  EXPECT_THAT(Error(*worker, Received{.from = 2, .tag = AnswerTag(0)}),
              HasSubstr("came without a post in step 0"));
  EXPECT_THAT(Error(*worker, GradientReady{1}), HasSubstr("without a request in step 0"));
  EXPECT_EQ(Error(*worker, GradientReady{0}), "");
  ASSERT_EQ(worker->waiting_for().size(), 1u);
  EXPECT_EQ(worker->waiting_for()[0].peer, 2);
  EXPECT_THAT(Error(*worker, Received{.from = 1, .tag = AnswerTag(0)}), HasSubstr("rank 1 came"));
  EXPECT_THAT(Error(*worker, Push(2)), HasSubstr("rank 2"));
  EXPECT_THAT(Error(*worker, Sent{{9}}), HasSubstr("send 9 was reported in step 0"));
  EXPECT_THAT(Error(*worker, Sent{IdleHost::IdOf(0), false}), HasSubstr("rank 2 declined"));
  EXPECT_EQ(Error(*worker, Received{.from = 2, .tag = AnswerTag(0), .note = {1, 5}}), "");
  EXPECT_EQ(worker->round(), 1);
}

TEST_F(AsyncPeers, OfAWorkerSayWhatCanBe) {
  for (const Note note : {Note{1, -1}, Note{-1, 0}, Note{1e17, 0}}) {
    const auto worker = Begun(0);
    EXPECT_EQ(Error(*worker, GradientReady{0}), "");
    EXPECT_THAT(Error(*worker, Received{.from = 2, .tag = AnswerTag(0), .note = note}),
                HasSubstr("rank 2 answered with version "));
  }
}

}  // namespace
}  // namespace grapevine::testing
