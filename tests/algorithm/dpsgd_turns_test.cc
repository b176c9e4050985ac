// D-PSGD where rounds have different neighbours: what it posts how, and what it sends
// when.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "algorithm/algorithm.h"
#include "tests/algorithm/idle_host.h"

namespace grapevine::testing {
namespace {

constexpr Rank kSelf = 0;

class DpsgdTurns : public ::testing::Test {
 protected:
  // Rank 0 of 8, with two rounds at once, in its first.
  void Start(const char* topology, Round limit = 10) {
    topology_ = *MakeTopology(topology, 8, 1);
    const auto mixing = *MakeMixing("metropolis", topology_);
    dpsgd_ = *MakeAlgorithm(
        "dpsgd",
        {.rank = kSelf, .mixing = mixing, .learning_rate = [](Round) { return 0.1; }, .window = 2});
    ASSERT_TRUE(dpsgd_->On(RoundLimit{limit}, host_).ok());
    ASSERT_TRUE(dpsgd_->On(grapevine::Start{}, host_).ok());
  }
  std::vector<Rank> In(Round round) const {
    std::vector<Rank> peers;
    topology_->InNeighbours(kSelf, round, &peers);
    return peers;
  }
  // All that round 0 waits for but for the sends.
  void EndOfRoundZero() {
    for (const Rank peer : In(0)) Receive(peer, 0);
    ASSERT_TRUE(dpsgd_->On(GradientReady{0}, host_).ok());
  }
  void Receive(Rank from, Round round) {
    ASSERT_TRUE(dpsgd_->On(Received{from, {.index = round}}, host_).ok());
  }
  void ReportLeft(size_t i) { ASSERT_TRUE(dpsgd_->On(Left{IdleHost::IdOf(i)}, host_).ok()); }

  std::shared_ptr<const Topology> topology_;
  IdleHost host_{10};
  std::unique_ptr<Algorithm> dpsgd_;
};

TEST_F(DpsgdTurns, PostsInTurnWhereNeighboursChange) {
  for (const auto& [topology, credit] :
       {std::pair("one-peer-exponential", Credit::kInTurn), std::pair("ring", Credit::kAtOnce),
        std::pair("random-matching", Credit::kInTurn)}) {
    host_ = IdleHost(10);
    Start(topology);
    ASSERT_FALSE(host_.credits.empty()) << topology;
    for (const Credit posted : host_.credits) EXPECT_EQ(posted, credit) << topology;
  }
}

TEST_F(DpsgdTurns, SendsAReplicaOnceThoseOfTheRoundBeforeHaveLeft) {
  Start("one-peer-exponential");
  EndOfRoundZero();
  EXPECT_EQ(dpsgd_->round(), 1);
  ASSERT_EQ(host_.sent.size(), 1u) << "the replica of round 0 is on its way";
  ReportLeft(0);
  ASSERT_EQ(host_.sent.size(), 2u);
  EXPECT_EQ(host_.sent[1].tag.index, 1);
  ReportLeft(1);
  EXPECT_EQ(host_.sent.size(), 2u) << "sent twice";
}

// On one connection they follow each other by themselves.
TEST_F(DpsgdTurns, SendsAtOnceWhereNeighboursStay) {
  Start("ring");
  EndOfRoundZero();
  EXPECT_EQ(host_.sent.size(), 4u);
}

// Its neighbours may still be without what has left: it says for whom it waits.
TEST_F(DpsgdTurns, RestsOnceItsLastReplicasAreReceived) {
  Start("ring", 1);
  EndOfRoundZero();
  ASSERT_EQ(host_.sent.size(), 2u);
  EXPECT_EQ(dpsgd_->round(), 1);
  for (const size_t i : {0, 1}) ReportLeft(i);
  EXPECT_EQ(host_.rests, 0);
  ASSERT_EQ(dpsgd_->waiting_for().size(), 2u);
  ASSERT_TRUE(dpsgd_->On(Sent{IdleHost::IdOf(0)}, host_).ok());
  EXPECT_EQ(host_.rests, 0);
  ASSERT_EQ(dpsgd_->waiting_for().size(), 1u);
  EXPECT_EQ(dpsgd_->waiting_for()[0].peer, host_.sent[1].peer);
  ASSERT_TRUE(dpsgd_->On(Sent{IdleHost::IdOf(1)}, host_).ok());
  EXPECT_EQ(host_.rests, 1);
  EXPECT_TRUE(dpsgd_->waiting_for().empty());
  EXPECT_FALSE(dpsgd_->On(Sent{IdleHost::IdOf(1)}, host_).ok()) << "twice";
}

}  // namespace
}  // namespace grapevine::testing
