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

}  // namespace
}  // namespace grapevine
