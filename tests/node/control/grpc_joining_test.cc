// Nodes that gather around rank 0: too early, in vain, or where they do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "base/status.h"
#include "node/server/grpc_server.h"
#include "tests/node/control/controlled_run.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GrpcJoining, RankZeroMayComeLater) {
  // A port that nobody listens on yet.
  std::string address;
  int port;
  {
    RankZero probe(1);
    address = probe.address();
    port = probe.server->address().port;
  }
  ControlledNode node(1, Dial(address), address);
  auto join = std::async(std::launch::async, [&node] { return node.Join(2); });
  // It has failed at least once when the channel has.
  auto watched = Dial(address);
  watched->GetState(true);
  while (watched->GetState(true) != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    ASSERT_TRUE(watched->WaitForStateChange(watched->GetState(false),
                                            std::chrono::system_clock::now() + kLong));
  }
  RankZero zero(2, seconds(30), port);
  ControlledNode first(0, zero.server->InProcessChannel(), address);
  control::Registration registration = RegistrationOf(0, 2);
  registration.set_address("127.0.0.1:7000");
  EXPECT_TRUE(first.client().Join(registration, steady_clock::now() + kLong).ok());
  EXPECT_TRUE(join.get().ok());
}

TEST(GrpcJoining, WhenRankZeroNeverComesTheReasonIsNamed) {
  std::string address;
  { address = RankZero(1).address(); }
  ControlledNode refused(1, Dial(address), address);
  const auto roster = refused.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr(address), HasSubstr("refused"), HasSubstr("MASTER_ADDR")));

  const std::string nowhere = "no-such-host.invalid:5000";
  ControlledNode lost(1, Dial(nowhere), nowhere);
  const auto unknown = lost.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(unknown.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(unknown.status().message()),
              AllOf(HasSubstr(nowhere), ::testing::ContainsRegex("DNS|resol")));
}

TEST(GrpcJoining, AServerThatIsNoCoordinatorIsNamedAtOnce) {
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), {});
  ASSERT_TRUE(server.ok());
  const std::string address = FormatHostAddress((*server)->address());
  ControlledNode node(1, Dial(address), address);
  const auto roster = node.Join(2);
  EXPECT_THAT(std::string(roster.status().message()), HasSubstr("not a grapevine coordinator"));
}

TEST(GrpcJoining, AListenerThatNeverAnswersDoesNotHoldUpTheJoin) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  socklen_t length = sizeof(address);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string text = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  ControlledNode node(1, Dial(text), text);
  const auto roster = node.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  // As where a firewall drops what is sent.
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr("rank 0 at " + text + ": no answer"), HasSubstr("firewall"),
                    Not(HasSubstr("CANCELLED"))));
  close(listener);
}

TEST(GrpcJoining, ARefusalAndATimeoutCarryTheirMessages) {
  RankZero zero(2, seconds(30), 0, milliseconds(1500));
  ControlledNode misfit(1, Dial(zero.address()), zero.address());
  const auto refused = misfit.Join(5);
  EXPECT_EQ(FailureOf(refused.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("number of nodes is 5 there and 2 on rank 0"));
  ControlledNode fits(1, Dial(zero.address()), zero.address());
  const auto alone = fits.Join(2);
  EXPECT_EQ(FailureOf(alone.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(alone.status().message()), HasSubstr("rank 0 is missing"));
}

// Who has the token is of this run, and without its rank nothing begins.
TEST(GrpcJoining, AProvenMisfitEndsTheGatheringForAllWhoComeAndWillCome) {
  const RunToken token("the token of this run");
  RankZero zero(3, seconds(30), 0, seconds(20), token);
  const auto join = [](ControlledNode& node, const control::Registration& registration) {
    return node.client().Join(registration, steady_clock::now() + kLong).status();
  };
  ControlledNode fits(1, Dial(zero.address()), zero.address(), seconds(30), 3, token);
  auto waiting = std::async(std::launch::async, [&] { return join(fits, RegistrationOf(1, 3)); });
  ControlledNode misfit(2, Dial(zero.address()), zero.address(), seconds(30), 3, token);
  control::Registration other = RegistrationOf(2, 3);
  other.add_agreements()->set_name("lr");
  const absl::Status refused = join(misfit, other);
  EXPECT_EQ(FailureOf(refused), Failure::kRendezvous);
  EXPECT_EQ(refused.message(),
            "rank 0 refuses rank 2 at 127.0.0.1:7002: lr is \"\" there and not given on rank 0; "
            "start every rank with the same configuration and the same files");
  EXPECT_EQ(waiting.get(), refused);
  EXPECT_EQ(zero.service.verdict(), refused);
  EXPECT_TRUE(zero.service.AwaitDeparture());
}

TEST(GrpcJoining, ANodeWithoutTheTokenHearsWhatHelps) {
  RankZero zero(2, seconds(30), 0, seconds(20), RunToken("the token of this run"));
  ControlledNode node(1, Dial(zero.address()), zero.address());
  const auto roster = node.Join(2);
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr("rank 0 at " + zero.address() + " refuses this node"),
                    HasSubstr("--token-file or GRAPEVINE_TOKEN")));
}

}  // namespace
}  // namespace grapevine::testing
