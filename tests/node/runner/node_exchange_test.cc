#include "node/runner/node_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithm/message.h"
#include "node/runner/data_path.h"
#include "tests/node/runner/silent_transport.h"

namespace grapevine {
namespace {

class NodeExchangeTest : public ::testing::Test {
 protected:
  static constexpr Tag kTag = {.channel = 1, .index = 8, .step = 2};

  SendId Send(Rank to) { return exchange_.Send(to, kTag, path_.vectors().Whole(vector_), Note{}); }

  HostDataPath path_{[](auto, auto, int64_t) {}};
  testing::SilentTransport transport_;
  NodeExchange exchange_{&path_, &transport_, nullptr};
  Vec vector_ = path_.vectors().New(3, "a test's");
};

TEST_F(NodeExchangeTest, ATagGoesToEachPeerAndAgainOnceItHasArrived) {
  const SendId first = Send(7);
  const SendId other = Send(6);
  EXPECT_EQ(exchange_.OnSent(7, kTag), first);
  const SendId again = Send(7);
  EXPECT_EQ(exchange_.OnSent(7, kTag), again);
  EXPECT_EQ(exchange_.OnSent(6, kTag), other);
  EXPECT_EQ(exchange_.bytes_sent(), 3 * 3 * int64_t{sizeof(float)});
}

using NodeExchangeDeathTest = NodeExchangeTest;

TEST_F(NodeExchangeDeathTest, ATagThatIsStillInFlightIsNotSentAgain) {
  Send(7);
  EXPECT_DEATH(Send(7), "to rank 7 .* is still in flight");
  exchange_.OnLeft(7, kTag);
  EXPECT_DEATH(Send(7), "to rank 7 .* is still in flight");
}

}  // namespace
}  // namespace grapevine
