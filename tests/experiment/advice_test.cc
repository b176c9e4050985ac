#include "experiment/advice/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "experiment/advice/advice_report.h"

namespace grapevine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

CandidateResult Gossip(const std::string& topology, double seconds, double rounds_to_mix) {
  return {{topology, "dpsgd"}, seconds, rounds_to_mix, 1 / rounds_to_mix};
}

CandidateResult Allreduce(double seconds) { return {{"ring", "allreduce:ring", true}, seconds}; }

TEST(Advise, TakesTheFastest) {
  const Advice advice = Advise({Gossip("torus", 2, 5), Gossip("ring", 1, 30), Allreduce(3)});
  EXPECT_EQ(advice.ranking[advice.chosen].candidate.topology, "ring");
  EXPECT_EQ(advice.best_gossip, 0u);
  EXPECT_EQ(advice.best_centralized, 2u);
  EXPECT_EQ(advice.ranking[2].seconds, 3);
}

TEST(Advise, PrefersTheBetterMixingAmongTheEquallyFast) {
  const Advice advice = Advise({Gossip("ring", 1, 30), Gossip("torus", 1.04, 5),
                                Gossip("exponential", 1.06, 2), Allreduce(3)});
  EXPECT_EQ(advice.ranking[advice.chosen].candidate.topology, "torus");
  const Advice exact = Advise({Gossip("ring", 1, 30), Allreduce(1.04)});
  EXPECT_TRUE(exact.ranking[exact.chosen].candidate.centralized);
}

TEST(Advise, KnowsThatASideIsEmpty) {
  const Advice advice = Advise({Gossip("ring", 1, 30)});
  EXPECT_EQ(advice.best_centralized, std::nullopt);
}

std::vector<std::string> Names(Rank nodes) {
  std::vector<std::string> names;
  for (const Candidate& candidate : AdviceCandidates(nodes)) names.push_back(candidate.name());
  return names;
}

TEST(AdviceCandidates, GoThroughRoundsThatCanBeTimed) {
  for (const Candidate& candidate : AdviceCandidates(8)) {
    EXPECT_TRUE(HasRounds(candidate.algorithm)) << candidate.name();
  }
}

TEST(AdviceText, NamesWhatCannotBeComparedByRounds) {
  const ClusterAdvice advice{.advice = Advise({Gossip("ring", 1, 30)})};
  EXPECT_THAT(AdviceText(advice, {}), HasSubstr("not compared: adag, adpsgd, downpour, "
                                                "eamsgd:async, easgd:async, ps:async: nobody"));
}

TEST(AdviceCandidates, FitTheNumberOfNodes) {
  EXPECT_THAT(Names(8), Contains("dpsgd on random:d=3"));
  EXPECT_THAT(Names(8), Contains("dpsgd on complete"));
  EXPECT_THAT(Names(8), Contains("allreduce:ring:buckets=4"));
  EXPECT_THAT(Names(8), Contains("ps:servers=4"));
  EXPECT_THAT(Names(9), Contains("dpsgd on random:d=4"));
  EXPECT_THAT(Names(64), Not(Contains("dpsgd on complete")));
  EXPECT_THAT(Names(1), Not(Contains("ps:servers=1")));
}

}  // namespace
}  // namespace grapevine
