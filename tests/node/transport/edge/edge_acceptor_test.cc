// Who is authenticated and who is admitted, over streams that only remember what was done to them.
#include "node/transport/edge/edge_acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

class FakeCaller final : public EdgeCaller {
 public:
  void Wake() override {}
  void Abort(const absl::Status& why) override { ended = why; }
  void Leave() override {}
  void AnswerHello(const EdgeIdentity& self) override { answer = self; }
  void Admit(std::shared_ptr<PeerLink> to) override { link = std::move(to); }
  std::string address() const override { return "somewhere"; }

  std::optional<EdgeIdentity> answer;
  std::shared_ptr<PeerLink> link;
  absl::Status ended;
};

class EdgeAcceptorTest : public ::testing::Test {
 protected:
  static EdgeIdentity Of(Rank rank) {
    return {.run_id = "run", .rank = rank, .world_size = 4, .schema = "x", .topology = "ring"};
  }
  void SetUp() override { acceptor_.Open(Of(0)); }
  // A link and its stream hold each other until one of them ends.
  void TearDown() override {
    for (const auto& link : links_->All()) link->Leave();
  }

  std::shared_ptr<FakeCaller> Calls(Rank rank, const RunToken& token) {
    auto caller = std::make_shared<FakeCaller>();
    acceptor_.OnHello(caller, Proven(Of(rank), 0, EdgeEnd::kCaller, token));
    return caller;
  }

  const RunToken token_{"the token of this run"};
  RecordingSink sink_;
  const std::shared_ptr<PeerLinks> links_ =
      std::make_shared<PeerLinks>(0, 4, 1000, std::make_shared<SinkGate>(&sink_));
  EdgeAcceptor acceptor_{token_, links_};
};

TEST_F(EdgeAcceptorTest, ANeighbourIsAnsweredAndAdmittedOnce) {
  acceptor_.Expect(std::vector<Rank>{1});
  const auto first = Calls(1, token_), second = Calls(1, token_);
  ASSERT_TRUE(first->answer.has_value());
  EXPECT_EQ(first->answer->listener, 1);
  EXPECT_TRUE(IsProven(*first->answer, EdgeEnd::kAnswerer, token_));
  ASSERT_NE(first->link, nullptr);
  EXPECT_EQ(first->link->peer(), 1);
  EXPECT_THAT(std::string(second->ended.message()), HasSubstr("rank 1 is connected already"));
  EXPECT_FALSE(second->answer.has_value());
}

TEST_F(EdgeAcceptorTest, WhoIsNoNeighbourYetWaitsOneARank) {
  const auto first = Calls(2, token_), second = Calls(2, token_);
  EXPECT_TRUE(first->answer.has_value());
  EXPECT_EQ(first->link, nullptr);
  EXPECT_TRUE(absl::IsAlreadyExists(second->ended)) << second->ended;
  acceptor_.OnClosed(first.get());
  const auto third = Calls(2, token_);
  EXPECT_TRUE(third->ended.ok()) << third->ended;
  acceptor_.Expect(std::vector<Rank>{2});
  EXPECT_EQ(first->link, nullptr);
  ASSERT_NE(third->link, nullptr);
  EXPECT_EQ(third->link->peer(), 2);
}

TEST_F(EdgeAcceptorTest, WhoComesAgainFindsRoomOnceTheLastStreamIsOver) {
  const auto call = [this](Rank rank, uint64_t number) {
    EdgeIdentity identity = Of(rank);
    identity.call.number = number;
    auto caller = std::make_shared<FakeCaller>();
    acceptor_.OnHello(caller, Proven(identity, 0, EdgeEnd::kCaller, token_));
    return caller;
  };
  acceptor_.Expect(std::vector<Rank>{1});
  for (const Rank rank : {1, 2}) {  // one of them waits for its admission
    const auto first = call(rank, 1), second = call(rank, 2);
    EXPECT_TRUE(absl::IsUnavailable(second->ended)) << second->ended;
    EXPECT_THAT(std::string(first->ended.message()), HasSubstr("has come again"));
    acceptor_.OnClosed(first.get());
    if (first->link != nullptr) first->link->IncomingClosed();
    const auto third = call(rank, 3);
    EXPECT_TRUE(third->ended.ok()) << third->ended;
    ASSERT_TRUE(third->answer.has_value());
    EXPECT_EQ(third->answer->call.number, 3u);
  }
}

TEST_F(EdgeAcceptorTest, WhoIsNotAuthenticatedHearsOnlyThat) {
  acceptor_.Expect(std::vector<Rank>{1});
  for (const RunToken& token : {RunToken(), RunToken("the token of another run")}) {
    const auto caller = Calls(1, token);
    EXPECT_EQ(caller->ended, absl::UnauthenticatedError("refused"));
    EXPECT_FALSE(caller->answer.has_value());
  }
  EdgeIdentity other = Of(1);
  other.topology = "star";
  const auto caller = std::make_shared<FakeCaller>();
  acceptor_.OnHello(caller, Proven(other, 0, EdgeEnd::kCaller, token_));
  EXPECT_THAT(std::string(caller->ended.message()),
              HasSubstr("topology: 'ring' at rank 0, 'star' at rank 1"));
}

class EdgeAcceptorOfNewcomers : public EdgeAcceptorTest {
 protected:
  static constexpr uint64_t kOld = 11, kNew = 12;

  std::shared_ptr<FakeCaller> CallsAs(uint64_t process, uint64_t number = 1) {
    EdgeIdentity identity = Of(1);
    identity.call = {.process = process, .number = number};
    auto caller = std::make_shared<FakeCaller>();
    acceptor_.OnHello(caller, Proven(identity, 0, EdgeEnd::kCaller, token_));
    return caller;
  }
  // As its transport does with a peer that is left out.
  void GiveUp() {
    (*links_->To(1))->GiveUp(absl::UnavailableError("rank 1 died"));
    acceptor_.Forget(1);
  }
  void TakeIn() { links_->Renew(1, kNew); }
  void Expect() { acceptor_.Expect(std::vector<Rank>{1}); }
};

TEST_F(EdgeAcceptorOfNewcomers, OneThatCallsBeforeItIsTakenInWaits) {
  Expect();
  ASSERT_NE(CallsAs(kOld)->link, nullptr);
  GiveUp();
  const auto caller = CallsAs(kNew);
  EXPECT_TRUE(caller->ended.ok()) << caller->ended;
  EXPECT_EQ(caller->link, nullptr);
  TakeIn();
  EXPECT_EQ(caller->link, nullptr);
  Expect();
  ASSERT_NE(caller->link, nullptr);
  EXPECT_FALSE(caller->link->broken());
}

TEST_F(EdgeAcceptorOfNewcomers, TheOldProcessIsRefusedAndTakesNoPlace) {
  Expect();
  ASSERT_NE(CallsAs(kOld)->link, nullptr);
  GiveUp();
  const auto late = CallsAs(kOld, 2);
  EXPECT_THAT(std::string(late->ended.message()), HasSubstr("rank 1 died"));
  EXPECT_FALSE(MayComeAgain(late->ended.code())) << late->ended;
  const auto caller = CallsAs(kNew);
  EXPECT_TRUE(caller->ended.ok()) << caller->ended;
  TakeIn();
  Expect();
  EXPECT_NE(caller->link, nullptr);
  const auto later = CallsAs(kOld, 3);
  EXPECT_FALSE(MayComeAgain(later->ended.code())) << later->ended;
  EXPECT_FALSE(caller->link->broken());
}

// Nothing was heard of the old one before, so that nobody knows which of them it is.
TEST_F(EdgeAcceptorOfNewcomers, OneThatFindsTheOldProcessInItsPlaceComesAgain) {
  GiveUp();
  const auto old = CallsAs(kOld);
  EXPECT_TRUE(old->ended.ok()) << old->ended;
  const auto caller = CallsAs(kNew);
  EXPECT_TRUE(MayComeAgain(caller->ended.code())) << caller->ended;
  EXPECT_TRUE(old->ended.ok()) << old->ended;
  TakeIn();
  Expect();
  EXPECT_FALSE(MayComeAgain(old->ended.code())) << old->ended;
  EXPECT_EQ(old->link, nullptr);
  EXPECT_NE(CallsAs(kNew, 2)->link, nullptr);
}

}  // namespace
}  // namespace grapevine
