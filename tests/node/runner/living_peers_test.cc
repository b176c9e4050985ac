#include "node/runner/living_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Takes everything, but has lost one peer.
class FakeTransport final : public Transport {
 public:
  void Dial(std::span<const Rank> peers) override { dialled.assign(peers.begin(), peers.end()); }
  absl::Status Send(Rank to, Tag, Outgoing) override { return About(to); }
  absl::Status Post(Rank from, Tag, Incoming) override { return About(from); }
  absl::Status Decline(Rank from, Tag) override { return About(from); }
  absl::Status Withdraw(Rank from, Tag) override { return About(from); }
  void GiveUp(Rank peer, const absl::Status&) override { given_up.push_back(peer); }
  void TakeIn(Rank peer) override { taken_in.push_back(peer); }
  TransportCounters counters() const override { return {}; }
  void Shutdown() override {}

  Rank lost = -1;
  std::vector<Rank> dialled;
  std::vector<Rank> given_up;
  std::vector<Rank> taken_in;

 private:
  absl::Status About(Rank peer) const {
    return peer == lost ? WithLostPeer(absl::UnavailableError("it died"), peer) : absl::OkStatus();
  }
};

class LivingPeersTest : public ::testing::Test {
 protected:
  LivingPeersTest() { peers_.Use(&transport_); }

  absl::Status Send(Rank to, int64_t index) {
    return peers_.Send(to, {0, index, 0}, Outgoing(SharedBytes{}));
  }
  absl::Status Post(Rank from, int64_t index) {
    return peers_.Post(from, {0, index, 0}, Incoming(SharedBytes{}));
  }

  using Ends = std::vector<std::pair<Rank, int64_t>>;
  Ends lost_;
  Ends undelivered_;
  FakeTransport transport_;
  LivingPeers peers_{[this](Rank from, Tag tag) { lost_.emplace_back(from, tag.index); },
                     [this](Rank to, Tag tag) { undelivered_.emplace_back(to, tag.index); }};
};

TEST_F(LivingPeersTest, PostsEndWhenTheirSenderIsLeftOut) {
  ASSERT_TRUE(Post(1, 7).ok());
  ASSERT_TRUE(Post(1, 8).ok());
  ASSERT_TRUE(Post(2, 7).ok());
  EXPECT_TRUE(peers_.TakePost(1, {0, 8, 0})) << "it has arrived";
  peers_.LeaveOut(1);
  EXPECT_THAT(transport_.given_up, ElementsAre(1));
  EXPECT_THAT(lost_, ElementsAre(Pair(1, 7)));
  EXPECT_FALSE(peers_.TakePost(1, {0, 7, 0})) << "what comes too late is not heard of";
  EXPECT_TRUE(peers_.TakePost(2, {0, 7, 0}));
  peers_.LeaveOut(1);
  EXPECT_EQ(lost_.size(), 1u) << "once";
}

TEST_F(LivingPeersTest, SendsEndWhenTheTransportLetsGoOfThem) {
  ASSERT_TRUE(Send(1, 7).ok());
  peers_.LeaveOut(1);
  EXPECT_THAT(undelivered_, IsEmpty());
  EXPECT_TRUE(peers_.TakeSend(1, {0, 7, 0})) << "the sink hears of its end";
  EXPECT_FALSE(peers_.TakeSend(1, {0, 7, 0}));
}

TEST_F(LivingPeersTest, APeerThatTheTransportHasLostIsNoError) {
  transport_.lost = 1;
  ASSERT_TRUE(Send(1, 7).ok());
  ASSERT_TRUE(Post(1, 7).ok());
  ASSERT_TRUE(peers_.Decline(1, {0, 9, 0}).ok());
  ASSERT_TRUE(peers_.Withdraw(1, {0, 7, 0}).ok());
  EXPECT_THAT(lost_, IsEmpty()) << "the members have not agreed";
  EXPECT_THAT(undelivered_, IsEmpty());
  peers_.LeaveOut(1);
  EXPECT_THAT(lost_, ElementsAre(Pair(1, 7)));
  EXPECT_THAT(undelivered_, ElementsAre(Pair(1, 7)));
}

TEST_F(LivingPeersTest, AnErrorAboutAnotherPeerPasses) {
  transport_.lost = 1;
  EXPECT_TRUE(Send(2, 7).ok());
  transport_.lost = 2;
  EXPECT_FALSE(peers_.LeftOut(2));
  peers_.LeaveOut(1);
  EXPECT_TRUE(Send(2, 8).ok()) << "not left out yet";
  EXPECT_THAT(undelivered_, IsEmpty());
}

TEST_F(LivingPeersTest, WhatComesAfterwardsEndsAtOnce) {
  peers_.LeaveOut(1);
  ASSERT_TRUE(Send(1, 9).ok());
  ASSERT_TRUE(Post(1, 9).ok());
  EXPECT_THAT(undelivered_, ElementsAre(Pair(1, 9)));
  EXPECT_THAT(lost_, ElementsAre(Pair(1, 9)));
  EXPECT_FALSE(peers_.Sends(1, {0, 9, 0}));
  const std::vector<Rank> ranks = {0, 1, 2};
  peers_.Dial(ranks);
  EXPECT_THAT(transport_.dialled, ElementsAre(0, 2));
}

TEST_F(LivingPeersTest, OneThatIsTakenInAgainIsSentToAndPostedFor) {
  ASSERT_TRUE(Send(1, 6).ok());
  peers_.LeaveOut(1);
  peers_.TakeInWith(1, 2);
  EXPECT_THAT(transport_.taken_in, ElementsAre(1));
  EXPECT_FALSE(peers_.LeftOut(1));
  ASSERT_TRUE(Send(1, 7).ok());
  ASSERT_TRUE(Post(1, 7).ok());
  EXPECT_TRUE(peers_.Sends(1, {0, 7, 0}));
  EXPECT_TRUE(peers_.TakePost(1, {0, 7, 0}));
  EXPECT_TRUE(peers_.TakeSend(1, {0, 7, 0}));
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_THAT(undelivered_, IsEmpty());
  peers_.Dial(std::vector<Rank>{1});
  EXPECT_THAT(transport_.dialled, ElementsAre(1));
  ASSERT_TRUE(Post(1, 8).ok());
  peers_.LeaveOut(1);
  EXPECT_THAT(lost_, ElementsAre(Pair(1, 8))) << "it may be lost again";
}

// An average of a view's models may still be under way when another process of a rank has come.
TEST_F(LivingPeersTest, OneThatIsTakenInHasNothingToDoWithViewsBefore) {
  LivingPeers peers([this](Rank from, Tag tag) { lost_.emplace_back(from, tag.index); },
                    [this](Rank to, Tag tag) { undelivered_.emplace_back(to, tag.index); },
                    [](const Tag& tag) { return std::optional<uint32_t>(tag.channel); });
  peers.Use(&transport_);
  peers.LeaveOut(1);
  peers.TakeInWith(1, 2);
  ASSERT_TRUE(peers.Post(1, {.channel = 1, .index = 7}, Incoming(SharedBytes{})).ok());
  ASSERT_TRUE(peers.Send(1, {.channel = 1, .index = 8}, Outgoing(SharedBytes{})).ok());
  EXPECT_THAT(lost_, ElementsAre(Pair(1, 7)));
  EXPECT_THAT(undelivered_, ElementsAre(Pair(1, 8)));
  ASSERT_TRUE(peers.Post(1, {.channel = 2, .index = 9}, Incoming(SharedBytes{})).ok());
  EXPECT_TRUE(peers.TakePost(1, {.channel = 2, .index = 9}));
}

}  // namespace
}  // namespace grapevine
