// Connections to rank 0 that break, over real sockets, while both ends live; and while one does
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "base/status.h"
#include "tests/node/control/controlled_run.h"
#include "tests/testing/tcp_relay.h"

namespace grapevine::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A run of two, whose rank 1 reaches rank 0 through a relay, and has a port of its own.
class GrpcReturn : public ::testing::Test {
 protected:
  GrpcReturn() {
    auto port = GrpcServer::Start({.bind = {"127.0.0.1", 0}}, *GrpcCredentials::Load({}), {});
    EXPECT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
    const std::string address = "127.0.0.1:" + std::to_string(relay_.port());
    nodes_[0] = std::make_unique<ControlledNode>(0, zero_.server->InProcessChannel(),
                                                 zero_.address(), seconds(30), 2, token_);
    nodes_[1] = std::make_unique<ControlledNode>(1, Dial(address), address, seconds(30), 2, token_,
                                                 [address] { return Dial(address); });
    const std::string addresses[] = {zero_.address(), FormatHostAddress(port_->address())};
    std::future<absl::Status> joins[2];
    for (const Rank rank : {0, 1}) {
      control::Registration registration = RegistrationOf(rank, 2);
      registration.set_address(addresses[rank]);
      joins[rank] = std::async(std::launch::async, [this, rank, registration] {
        return nodes_[rank]
            ->client()
            .Join(registration, std::chrono::steady_clock::now() + kLong)
            .status();
      });
    }
    for (auto& join : joins) EXPECT_EQ(join.get(), absl::OkStatus());
    for (auto& node : nodes_) node->Start();
  }

  void Measure(Rank rank, Round round) {
    control::Report report;
    report.mutable_metrics()->set_round(round);
    EXPECT_TRUE(nodes_[rank]->client().Send(report).ok());
  }
  void ClosePort() {
    port_->Shutdown(std::chrono::system_clock::now());
    port_.reset();
  }

  const RunToken token_{"the token of this run"};
  RankZero zero_{2, seconds(30), 0, seconds(20), token_};
  TcpRelay relay_{zero_.server->address().port};
  std::unique_ptr<GrpcServer> port_;
  std::unique_ptr<ControlledNode> nodes_[2];
};

TEST_F(GrpcReturn, AConnectionThatBreaksIsMadeAgainAndNothingIsLost) {
  relay_.Refuse(true);
  relay_.Cut();
  // What both ends say meanwhile.
  for (Round round = 1; round <= 100; ++round) Measure(1, round);
  zero_.service.ExtendRoundLimit(20, true);
  while (relay_.refused() < 3) ASSERT_TRUE(nodes_[0]->AwaitBeats(1));
  relay_.Refuse(false);
  EXPECT_EQ(nodes_[1]->AwaitLimit(), 20);
  for (auto& node : nodes_) node->Done(20);
  zero_.AwaitAllDone();
  for (auto& node : nodes_) EXPECT_EQ(node->AwaitEnd(), absl::OkStatus());
  EXPECT_EQ(zero_.metrics_of, 100 * 1000 + 100 * 101 / 2) << "each once";
  nodes_[0].reset();
  nodes_[1].reset();
  EXPECT_TRUE(zero_.service.AwaitDeparture());
}

TEST_F(GrpcReturn, AConnectionMayBreakAgainAndAgain) {
  for (int i = 0; i < 5; ++i) {
    const int before = relay_.connections();
    Measure(1, i + 1);
    relay_.Cut();
    while (relay_.connections() == before) ASSERT_TRUE(nodes_[0]->AwaitBeats(1));
  }
  for (auto& node : nodes_) node->Done(10);
  zero_.AwaitAllDone();
  for (auto& node : nodes_) EXPECT_EQ(node->AwaitEnd(), absl::OkStatus());
  EXPECT_EQ(zero_.metrics_of, 5 * 1000 + 15);
}

TEST_F(GrpcReturn, AProcessWhosePortIsClosedHasDied) {
  relay_.Refuse(true);
  ClosePort();
  relay_.Cut();
  const absl::Status end = nodes_[0]->AwaitEnd();
  EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
  EXPECT_THAT(std::string(end.message()),
              AllOf(HasSubstr("rank 1 at 127.0.0.1:"), HasSubstr("died"),
                    HasSubstr("and nobody listens at its address any more")));
}

TEST_F(GrpcReturn, ProcessesWhosePortsAreOpenHaveNotDied) {
  relay_.Refuse(true);
  relay_.Cut();
  while (relay_.refused() < 5) ASSERT_TRUE(nodes_[0]->AwaitBeats(1));
  EXPECT_TRUE(zero_.service.verdict().ok()) << zero_.service.verdict();
}

}  // namespace
}  // namespace grapevine::testing
