// Who answers as a coordinator, over gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/discovery/grpc_discovery.h"
#include "node/server/grpc_server.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<GrpcServer> Serve(std::vector<std::string> offered) {
  auto server = GrpcServer::Start({.offered = std::move(offered)}, {}, {});
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

ProbeAnswer Ask(const std::vector<HostAddress>& addresses, const std::string& service,
                steady_clock::time_point deadline = steady_clock::now() +
                                                    testing::Patient(minutes(1))) {
  return GrpcCoordinatorProbe({}, /*loopback_only=*/true)(
      {.addresses = addresses, .service = service, .certified_name = ""}, deadline);
}

TEST(GrpcCoordinatorProbe, FindsTheOneThatIsARunsRankZero) {
  const auto node = Serve({}), other = Serve({kCoordinatorService, ServiceOfRun("16")}),
             zero = Serve({kCoordinatorService, ServiceOfRun("17")});
  const std::vector<HostAddress> addresses = {
      {"127.0.0.1", 1}, node->address(), other->address(), zero->address()};
  for (int i = 0; i < 20; ++i) {
    const ProbeAnswer answer = Ask(addresses, ServiceOfRun("17"));
    EXPECT_EQ(answer.coordinator, zero->address()) << answer.why_not;
  }
  EXPECT_EQ(Ask({zero->address()}, kCoordinatorService).coordinator, zero->address());
  EXPECT_EQ(Ask({zero->address()}, "grapevine.run.").coordinator, std::nullopt);
}

TEST(GrpcCoordinatorProbe, SaysWhyNobodyIs) {
  const auto node = Serve({});
  for (int i = 0; i < 20; ++i) {
    const ProbeAnswer answer =
        Ask({{"127.0.0.1", 1}, node->address(), {"10.0.0.1", 1}}, kCoordinatorService);
    EXPECT_EQ(answer.coordinator, std::nullopt);
    EXPECT_THAT(answer.why_not,
                AllOf(HasSubstr("127.0.0.1:1: "), HasSubstr("refused"),
                      HasSubstr(FormatHostAddress(node->address()) + ": a node that is not rank 0"),
                      HasSubstr("10.0.0.1:1: connecting to 10.0.0.1 without encryption")));
  }
}

TEST(GrpcCoordinatorProbe, ManyAddressesAreAskedSomeAtATime) {
  const auto zero = Serve({kCoordinatorService});
  std::vector<HostAddress> addresses(3 * kMostProbes, {"127.0.0.1", 1});
  EXPECT_THAT(Ask(addresses, kCoordinatorService).why_not, HasSubstr(" and 188 more"));
  addresses.push_back(zero->address());
  EXPECT_EQ(Ask(addresses, kCoordinatorService).coordinator, zero->address());
}

TEST(GrpcCoordinatorProbe, ADeadlineThatIsOverIsKept) {
  const auto zero = Serve({kCoordinatorService});
  const ProbeAnswer answer =
      Ask({zero->address()}, kCoordinatorService, steady_clock::now() - milliseconds(1));
  EXPECT_THAT(answer.why_not, HasSubstr("no answer"));
}

}  // namespace
}  // namespace grapevine
