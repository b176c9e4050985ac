// What every allreduce owes its owner: the exact sum, the same bits everywhere,
// in any order of events, sum after sum.
#include "algorithm/allreduce/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/allreduce/allreduce_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/allreduce_kinds.h"
#include "tests/algorithm/idle_host.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// That of the vector's end, where it is summed in parts.
std::unique_ptr<const AllreduceSchedule> Schedule(const std::string& text, Rank rank, Rank size) {
  const Spec spec = *ParseSpec(text);
  SpecReader reader(spec);
  return std::move((*ReadAllreduce(spec, reader, size))(rank).front());
}

// Sums the gradients of all ranks in every round, and shows the sum; made in place of the gradient,
// or beside it, which is then shown or not.
enum class Made { kInPlace, kBeside, kBesideWhatIsShown };
class Summation final : public Algorithm {
 public:
  Summation(const std::string& kind, const AlgorithmOptions& options, Made made)
      : collective_(Schedule(kind, options.rank, options.mixing->topology().size()), 1),
        made_(made) {}

  absl::Status On(const Event& event, Host& host) override {
    absl::Status status;
    if (std::holds_alternative<Start>(event)) {
      collective_.Prepare(host.replica_size(), host);
      zero_ = host.InitialReplica(host.whole_replica());
      started_ = true;
    } else if (const auto* received = std::get_if<Received>(&event)) {
      status = collective_.On(*received, host);
    } else if (const auto* left = std::get_if<Left>(&event)) {
      EXPECT_TRUE(collective_.On(*left, host));
    } else if (const auto* sent = std::get_if<Sent>(&event)) {
      EXPECT_TRUE(collective_.On(*sent, host));
    } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
      limit_ = std::max(limit_, limit->limit);
    } else {
      summing_ = true;
      if (made_ != Made::kInPlace) sum_ = host.New(host.replica_size(), "the sum");
      if (made_ == Made::kInPlace) {
        collective_.Begin(host.Whole(data_), host);
      } else {
        collective_.Begin(host.Whole(data_), host.Whole(sum_), host);
      }
    }
    if (status.ok()) Advance(host);
    return status;
  }
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return collective_.waiting_for(); }
  std::vector<Rank> Peers(Round, Round) const override { return collective_.Peers(); }

 private:
  void Advance(Host& host) {
    if (summing_ && collective_.summed()) {
      summing_ = false;
      host.Boundary(++round_, made_ == Made::kBeside ? sum_ : data_);
      host.Drop(std::exchange(data_, Vec{}));
      if (sum_) host.Drop(std::exchange(sum_, Vec{}));
    }
    if (!started_ || data_) return;
    if (round_ < limit_) {
      data_ = host.New(host.replica_size(), "the sum");
      host.Gradient(zero_, data_, round_);
    } else if (collective_.idle()) {
      host.Rest(zero_);
    }
  }

  Collective collective_;
  const Made made_;
  Vec zero_, data_, sum_;
  Round round_ = 0, limit_ = 0;
  bool started_ = false, summing_ = false;
};

// Integers whose sums are exact in floats.
float Value(Rank rank, Round round, int64_t element) {
  return static_cast<float>(Mix(5, Purpose::kGradientNoise, rank, round, element) % 1000);
}

ClusterOptions Options(const std::string& kind, Rank nodes, int64_t elements,
                       Made made = Made::kInPlace) {
  return {.make_algorithm =
              [=](const AlgorithmOptions& options) {
                return std::make_unique<Summation>(kind, options, made);
              },
          .nodes = nodes,
          .parameters = elements,
          .gradient =
              [](Rank rank, Round round, std::span<const float>, std::span<float> gradient) {
                for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = Value(rank, round, i);
              }};
}

class CollectiveContract : public ::testing::TestWithParam<std::string> {
 protected:
  // Several sums whose limit moves, in one order of events.
  static void ExpectExactSums(Rank nodes, int64_t elements, uint64_t order_seed,
                              Made made = Made::kInPlace) {
    SCOPED_TRACE(::testing::Message()
                 << nodes << " ranks, " << elements << " elements, order seed " << order_seed);
    ClusterOptions options = Options(GetParam(), nodes, elements, made);
    options.order_seed = order_seed;
    int boundaries = 0;
    options.at_boundary = [&](Rank rank, Round completed, std::span<const float> sum) {
      ++boundaries;
      for (int64_t i = 0; i < elements; ++i) {
        float expected = 0;
        for (Rank r = 0; r < nodes; ++r) {
          const bool counts = made != Made::kBesideWhatIsShown || r == rank;
          if (counts) expected += Value(r, completed - 1, i);
        }
        ASSERT_EQ(sum[i], expected) << "rank " << rank << ", element " << i;
      }
    };
    Cluster cluster(options);
    for (const Round limit : {0, 1, 4, 4, 5}) {
      const absl::Status status = cluster.Run(limit);
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(boundaries, 5 * nodes);
  }
};

TEST_P(CollectiveContract, EveryRankGetsTheExactSum) {
  for (const Rank nodes : SomeSizes()) {
    for (const int64_t elements : {1, 3, 16, 61}) ExpectExactSums(nodes, elements, 1);
  }
}

// Of one rank alone nothing is made.
TEST_P(CollectiveContract, ASumMayBeMadeBesideItsDataWhichStay) {
  for (const Rank nodes : SomeSizes()) {
    if (nodes == 1) continue;
    for (const int64_t elements : {3, 61}) {
      ExpectExactSums(nodes, elements, 1, Made::kBeside);
      ExpectExactSums(nodes, elements, 2, Made::kBesideWhatIsShown);
    }
  }
}

TEST_P(CollectiveContract, AnyOrderOfEventsWillDo) {
  for (const Rank nodes : {2, 3, 6, 7, 12}) {
    for (const uint64_t seed : Seeds(28)) ExpectExactSums(nodes, 29, seed);
  }
}

TEST_P(CollectiveContract, AllRanksEndWithTheSameBits) {
  for (const Rank nodes : {3, 7, 12, 16}) {
    ClusterOptions options = Options(GetParam(), nodes, 53);
    // Sums of these depend on the order of their terms.
    options.gradient = [](Rank rank, Round round, std::span<const float>, std::span<float> out) {
      KeyedRandom random(3, Purpose::kGradientNoise, rank, round);
      for (float& value : out) value = static_cast<float>(random.Normal());
    };
    std::vector<std::vector<float>> first;
    for (const uint64_t seed : Seeds(4)) {
      options.order_seed = seed;
      options.at_boundary = [&](Rank rank, Round completed, std::span<const float> sum) {
        if (first.size() < static_cast<size_t>(completed))
          first.emplace_back(sum.begin(), sum.end());
        EXPECT_TRUE(std::ranges::equal(sum, first[completed - 1]))
            << "rank " << rank << " of " << nodes << ", order seed " << seed;
      };
      ASSERT_TRUE(Cluster(options).Run(3).ok());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveContract, ::testing::ValuesIn(AllreduceKinds()),
                         [](const auto& info) { return KindName(info.param); });

TEST(Collective, HalvingDoublingAndTreeAddInTheSameOrderOnPowersOfTwo) {
  const auto sums = [](const char* kind) {
    ClusterOptions options = Options(kind, 16, 53);
    options.gradient = [](Rank rank, Round round, std::span<const float>, std::span<float> out) {
      KeyedRandom random(3, Purpose::kGradientNoise, rank, round);
      for (float& value : out) value = static_cast<float>(random.Normal());
    };
    std::vector<float> last;
    options.at_boundary = [&](Rank, Round, std::span<const float> sum) {
      last.assign(sum.begin(), sum.end());
    };
    EXPECT_TRUE(Cluster(options).Run(2).ok());
    return last;
  };
  EXPECT_EQ(sums("allreduce:halving-doubling"), sums("allreduce:tree"));
  EXPECT_EQ(sums("allreduce:recursive-doubling"), sums("allreduce:tree"));
}

class CollectiveViolations : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectiveViolations, AreRefusedWithTheMessageAndTheSumUnderWay) {
  constexpr int64_t kElements = 600;
  IdleHost host(kElements);
  Collective collective(Schedule(GetParam(), 0, 4), 1);
  collective.Prepare(kElements, host);
  collective.Begin({{1}, 0, kElements}, host);
  const Waiting posted = host.posted.at(0);

  const auto error = [&](const Received& event) {
    return std::string(collective.On(event, host).message());
  };
  EXPECT_THAT(error(Received{3, {1, 7, 0}}),
              AllOf(StartsWith(Schedule(GetParam(), 0, 4)->name() +
                               ": step 0 of round 7 came without a post from rank 3; under way is"),
                    EndsWith(" of round 0")));
  EXPECT_THAT(error(Received{(posted.peer + 1) % 4, posted.tag}), HasSubstr("came without a post"));
  EXPECT_THAT(error(Received{posted.peer, {1, 0, 1u << 31}}), HasSubstr("came without a post"));
  EXPECT_FALSE(collective.On(Left{SendId{99}}, host)) << "it never sent that";
  EXPECT_FALSE(collective.On(Sent{SendId{99}}, host)) << "it never sent that";
  EXPECT_EQ(error(Received{posted.peer, posted.tag}), "");
  EXPECT_THAT(error(Received{posted.peer, posted.tag}), HasSubstr("came without a post"));
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveViolations, ::testing::ValuesIn(AllreduceKinds()),
                         [](const auto& info) { return KindName(info.param); });

TEST(Collective, ScratchIsOneVectorOrTwoWhereWholeVectorsTravel) {
  constexpr int64_t kElements = 100'000'000;
  for (const std::string& kind : AllreduceKinds()) {
    const bool whole_vectors = kind == "allreduce:tree" || kind == "allreduce:hierarchical" ||
                               kind == "allreduce:recursive-doubling";
    for (const Rank nodes : {1, 2, 3, 16, 24, 1000}) {
      for (Rank rank = 0; rank < nodes; ++rank) {
        IdleHost host(6);
        Collective(Schedule(kind, rank, nodes), 1).Prepare(kElements, host);
        EXPECT_LE(host.allocated, (whole_vectors ? 2 : 1) * kElements)
            << kind << ", rank " << rank << " of " << nodes;
      }
    }
  }
  IdleHost host(6);
  Collective(Schedule("allreduce:tree", 0, 1000), 1).Prepare(1000, host);
  EXPECT_EQ(host.allocated, 10 * 1000) << "small vectors have a buffer for every level";
}

// Connections are made to them before the first message.
TEST(Collective, PeersAreAllWithWhomAScheduleExchangesMessages) {
  for (const std::string& kind : AllreduceKinds()) {
    for (const Rank nodes : {1, 2, 3, 8, 12}) {
      for (Rank rank = 0; rank < nodes; ++rank) {
        const auto schedule = Schedule(kind, rank, nodes);
        std::set<Rank> peers;
        for (int level = 0; level < schedule->levels(); ++level) {
          const AllreduceStep step = schedule->Step(level, 1000);
          if (step.to != kNobody) peers.insert(step.to);
          if (step.from != kNobody) peers.insert(step.from);
        }
        EXPECT_THAT(Collective(Schedule(kind, rank, nodes), 1).Peers(),
                    ::testing::ElementsAreArray(peers))
            << kind << ", rank " << rank << " of " << nodes;
      }
    }
  }
}

TEST(Collective, SaysForWhomItWaits) {
  IdleHost host(6);
  Collective collective(Schedule("allreduce:ring", 0, 4), 1);
  collective.Prepare(6, host);
  EXPECT_TRUE(collective.waiting_for().empty());
  collective.Begin({{1}, 0, 6}, host);
  ASSERT_EQ(collective.waiting_for().size(), 1u);
  EXPECT_EQ(collective.waiting_for()[0].peer, 3);
  ASSERT_TRUE(collective.On(Received{3, {1, 0, 0}}, host).ok());
  // The next message may not leave before the first has.
  ASSERT_EQ(collective.waiting_for().size(), 2u);
  EXPECT_EQ(collective.waiting_for()[0].peer, 1);
  EXPECT_EQ(collective.waiting_for()[0].tag, host.sent.at(0).tag);
}

// Its vector is still on its way to the other one when the other's arrives.
TEST(Collective, ASingleExchangeWaitsUntilItsVectorIsReceived) {
  IdleHost host(6);
  Collective collective(Schedule("allreduce:recursive-doubling", 0, 2), 1);
  collective.Prepare(6, host);
  collective.Begin({{1}, 0, 6}, host);
  ASSERT_EQ(host.sent.size(), 1u);
  ASSERT_TRUE(collective.On(Received{1, host.posted.at(0).tag}, host).ok());
  EXPECT_FALSE(collective.summed());
  ASSERT_EQ(collective.waiting_for().size(), 1u);
  EXPECT_EQ(collective.waiting_for()[0].tag, host.sent[0].tag);
  ASSERT_TRUE(collective.On(Left{SendId{1}}, host));
  EXPECT_FALSE(collective.summed());
  ASSERT_TRUE(collective.On(Sent{SendId{1}}, host));
  EXPECT_TRUE(collective.summed());
}

TEST(Collective, ASingleExchangeIntoAnotherVectorWaitsForNothing) {
  IdleHost host(6);
  Collective collective(Schedule("allreduce:recursive-doubling", 0, 2), 1);
  EXPECT_TRUE(collective.later_in_place());
  collective.Prepare(6, host);
  collective.Begin({{1}, 0, 6}, {{2}, 0, 6}, host);
  ASSERT_TRUE(collective.On(Received{1, host.posted.at(0).tag}, host).ok());
  EXPECT_TRUE(collective.summed());
  EXPECT_FALSE(collective.idle());
  EXPECT_EQ(host.posted.size(), 2u) << "the next sum's, while this one goes on";
}

// Up a tree of four in a group, then around a ring of three groups: the credit of a small
// piece, which may have far to go, leaves at once, however large the vectors are.
TEST(Collective, ASmallPieceNeedNotWaitForTheRoomOfAWholeVector) {
  const std::string kind = "allreduce:hierarchical:groups=3";
  for (const int64_t elements :
       {Collective::kEagerElements / 3, Collective::kEagerElements / 3 + 1, int64_t{100'000'000}}) {
    for (const Rank nodes : {6, 12, 24}) {
      IdleHost host(6);
      Collective(Schedule(kind, 0, nodes), 1).Prepare(elements, host);
      int64_t whole = 0;
      std::vector<uint32_t> small;
      for (const Waiting& posted : host.posted) {
        if (posted.peer % (nodes / 3) == 0) {
          small.push_back(posted.tag.step);
        } else {
          ++whole;
        }
      }
      EXPECT_EQ(small.size(), 2u) << elements << " elements on " << nodes << " nodes";
      EXPECT_GE(whole, 1);
    }
  }
}

TEST(Collective, PostsAheadNoMoreThanItsBound) {
  IdleHost host(6);
  Collective collective(Schedule("allreduce:ring", 0, 5000), 1);
  collective.Prepare(5000, host);
  EXPECT_EQ(host.posted.size(), static_cast<size_t>(Collective::kMaxAhead));
  EXPECT_EQ(collective.Peers(), (std::vector<Rank>{1, 4999}));
}

}  // namespace
}  // namespace grapevine::testing
