// A kind of allreduce that one file adds: its schedule and its registration.
#include "algorithm/allreduce/allreduce_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/registered_specs.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::Contains;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// From the last rank to rank 0, whole vectors.
class ChainAllreduce final : public AllreduceSchedule {
 public:
  ChainAllreduce(Rank rank, Rank size) : rank_(rank), size_(size) {}

  std::string name() const override { return "allreduce:chain"; }
  int reduce_levels() const override { return size_ - 1; }
  AllreduceStep ReduceStep(int level, int64_t elements) const override {
    const Rank sender = size_ - 1 - level;
    if (rank_ == sender) return {.to = sender - 1, .sent = {ElementRange{0, elements}}};
    if (rank_ == sender - 1) return {.from = sender, .received = {ElementRange{0, elements}}};
    return {};
  }

 private:
  const Rank rank_;
  const Rank size_;
};

const Registration kChainAllreduce(Allreduces(), {.name = "chain",
                                                  .help = "from the last rank to the first",
                                                  .read = ReadPlainAllreduce<ChainAllreduce>});

std::vector<float> TrainedBy(const std::string& algorithm) {
  Cluster cluster({.algorithm = algorithm,
                   .nodes = 5,
                   .parameters = 41,
                   .learning_rate = 0.1,
                   .gradient = Quadratic(1, 1, 2)});
  EXPECT_TRUE(cluster.Run(20).ok());
  return {cluster.replica(4).begin(), cluster.replica(4).end()};
}

TEST(AllreduceKind, OfOnesOwnTrainsAsTheRingDoes) {
  const std::vector<float> ring = TrainedBy("allreduce:ring");
  EXPECT_THAT(TrainedBy("allreduce:chain"), Pointwise(FloatNear(1e-6f), ring));
  EXPECT_THAT(TrainedBy("allreduce:chain:buckets=3"), Pointwise(FloatNear(1e-6f), ring));
}

TEST(AllreduceKind, OfOnesOwnIsKnownToHelpAdviceSuitesAndErrors) {
  const AlgorithmKind& allreduce = *Algorithms().Find("allreduce");
  EXPECT_THAT(JoinHelp(Algorithms().Listings()), HasSubstr("; KIND: chain, double-tree"));
  EXPECT_THAT(allreduce.advised(4), Contains("allreduce:chain"));
  EXPECT_THAT(ExamplesOf(allreduce), Contains("allreduce:chain"));
  const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
  const auto refused = MakeAlgorithm("allreduce:chian", {.mixing = mixing});
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("unknown allreduce 'chian'; did you mean chain?"));
}

TEST(AllreduceKind, TheDefaultIsAdvisedFirst) {
  EXPECT_EQ(Algorithms().Find("allreduce")->advised(4).front(), "allreduce:ring");
}

}  // namespace
}  // namespace grapevine::testing
