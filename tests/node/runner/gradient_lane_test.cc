#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "node/runner/node_gradients.h"
#include "tests/node/runner/silent_transport.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Computer final : public GradientComputer {
 public:
  explicit Computer(std::vector<Round>* begun) : begun_(begun) {}
  void Compute(SharedVector, SharedVector, Round round, std::vector<int64_t>) override {
    begun_->push_back(round);
  }

 private:
  std::vector<Round>* const begun_;
};

class GradientLaneTest : public ::testing::Test {
 protected:
  Vec NewVector(std::vector<float> values) {
    const Vec vector = path_.vectors().New(static_cast<int64_t>(values.size()), "a test's");
    std::ranges::copy(values, path_.vectors().At(vector).span().begin());
    return vector;
  }
  void Ask(Round round) { lane_.Ask(replica_, gradient_, round, {}); }
  void Send(Rank to, uint32_t step) {
    exchange_.Send(to, Tag{.step = step}, path_.vectors().Whole(replica_), {});
  }
  void OnLeft(Rank to, uint32_t step) { exchange_.OnLeft(to, Tag{.step = step}); }
  void OnSent(Rank to, uint32_t step) { exchange_.OnSent(to, Tag{.step = step}); }

  HostDataPath path_{[](auto, auto, int64_t) {}};
  testing::SilentTransport transport_;
  NodeExchange exchange_{&path_, &transport_, nullptr};
  std::vector<Round> begun_;
  GradientLane lane_{std::make_unique<Computer>(&begun_), &path_, &exchange_, nullptr};
  Vec replica_ = NewVector({1, 2, 3});
  Vec gradient_ = NewVector({4, 5, 6});
};

TEST_F(GradientLaneTest, BeginsAtOnceAndOnce) {
  lane_.Begin(false);
  EXPECT_FALSE(lane_.busy());
  Send(7, 1);  // late, but no model is held
  Ask(3);
  lane_.Begin(false);
  lane_.Begin(false);
  EXPECT_THAT(begun_, ElementsAre(3));
  EXPECT_TRUE(lane_.busy());
  lane_.End();
  EXPECT_FALSE(lane_.busy());
}

TEST_F(GradientLaneTest, WaitsForWhatWasSentBeforeWhileAModelIsHeld) {
  Send(7, 1);
  Send(7, 2);
  Ask(3);
  Send(7, 3);  // afterwards: may stay
  lane_.Begin(true);
  EXPECT_THAT(lane_.HeldBackFor(), ElementsAre(7));
  OnLeft(7, 2);
  lane_.Begin(true);
  EXPECT_THAT(begun_, IsEmpty());
  OnLeft(7, 1);
  lane_.Begin(true);
  EXPECT_THAT(begun_, ElementsAre(3));
  EXPECT_THAT(lane_.HeldBackFor(), IsEmpty());
}

TEST_F(GradientLaneTest, NamesWhoHasNotTakenWhatWasSentBefore) {
  Send(5, 1);
  Send(4, 1);
  Send(4, 2);
  EXPECT_THAT(lane_.HeldBackFor(), IsEmpty()) << "nothing is held back";
  Ask(3);
  Send(6, 1);
  EXPECT_THAT(lane_.HeldBackFor(), ElementsAre(4, 5));
  OnLeft(5, 1);
  EXPECT_THAT(lane_.HeldBackFor(), ElementsAre(4));
}

TEST_F(GradientLaneTest, BeginsWhenTheModelIsLetGo) {
  Send(7, 1);
  Ask(1);
  lane_.Begin(true);
  EXPECT_THAT(begun_, IsEmpty());
  lane_.Begin(false);
  EXPECT_THAT(begun_, ElementsAre(1));
}

TEST_F(GradientLaneTest, NamesTheTensorThatIsNotFinite) {
  ReplicaLayout layout;
  layout.AddParameter("w", {2});
  layout.AddBuffer("b", {1});
  Ask(1);
  lane_.Begin(false);
  EXPECT_EQ(lane_.WhereNotFinite(layout), "");
  path_.vectors().At(gradient_).data[1] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(lane_.WhereNotFinite(layout), "w of its gradient");
  path_.vectors().At(replica_).data[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(lane_.WhereNotFinite(layout), "b of its replica");
}

using GradientLaneDeathTest = GradientLaneTest;

TEST_F(GradientLaneDeathTest, ComputesOneAtATime) {
  Ask(1);
  EXPECT_DEATH(Ask(2), "round 2 was asked for before that of 1 began");
}

TEST_F(GradientLaneTest, TheExchangeCountsPayloadByRound) {
  const auto receive = [&](uint32_t step) {
    EXPECT_TRUE(exchange_.Admits(Received{.from = 7, .tag = {.step = step}, .bytes = 8}));
  };
  Send(7, 1);
  Send(4, 1);
  EXPECT_EQ(exchange_.bytes_sent(), 2 * 12);
  EXPECT_EQ(exchange_.last_send(), SendId{2});
  const Part buffer{gradient_, 1, 2};
  exchange_.Post(7, Tag{.step = 1}, buffer, 0, Credit::kAtOnce);
  exchange_.Post(7, Tag{.step = 2}, buffer, 1, Credit::kAtOnce);
  exchange_.Post(7, Tag{.step = 3}, buffer, 1, Credit::kAtOnce);
  receive(2);
  receive(1);
  EXPECT_EQ(exchange_.BytesReceived(1), 8) << "not what is posted for a later round";
  EXPECT_TRUE(exchange_.Admits(Lost{7, {.step = 3}}));
  EXPECT_EQ(exchange_.BytesReceived(2), 16) << "not what is lost";
}

TEST_F(GradientLaneTest, TheExchangeCountsAnOfferOnceItHasLeft) {
  for (const uint32_t step : {1, 2}) {
    exchange_.Offer(7, Tag{.step = step}, Part{gradient_, 0, 3}, {});
  }
  EXPECT_EQ(exchange_.bytes_sent(), 0);
  OnLeft(7, 1);
  EXPECT_EQ(exchange_.OnDeclined(7, Tag{.step = 2}), SendId{2});
  EXPECT_EQ(exchange_.bytes_sent(), 12);
}

// The offer was on its way to the algorithm when that posted for it.
TEST_F(GradientLaneTest, AnOfferThatIsPostedForIsKeptFromTheAlgorithm) {
  const Offered offer{.from = 7, .tag = {.step = 1}, .bytes = 8};
  EXPECT_TRUE(exchange_.Admits(offer));
  exchange_.Post(7, offer.tag, Part{gradient_, 1, 2}, 0, Credit::kAtOnce);
  EXPECT_FALSE(exchange_.Admits(offer));
  EXPECT_TRUE(exchange_.Admits(Received{.from = 7, .tag = offer.tag, .bytes = 8}));
  EXPECT_TRUE(exchange_.Admits(offer)) << "of the next message";
}

TEST_F(GradientLaneDeathTest, TheExchangeKnowsWhatIsUnderWay) {
  EXPECT_DEATH(OnLeft(4, 1), "a message to rank 4 has left that nobody asked for");
  EXPECT_DEATH(OnSent(4, 1), "a message to rank 4 was sent that nobody asked for");
  Send(4, 1);
  OnLeft(4, 1);
  OnSent(4, 1);
  EXPECT_DEATH(OnSent(4, 1), "a message to rank 4 was sent that nobody asked for");
  EXPECT_DEATH(exchange_.Withdraw(4, {}), "withdrew what is not posted for rank 4");
}

}  // namespace
}  // namespace grapevine
