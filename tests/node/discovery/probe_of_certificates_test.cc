// Who is taken for the coordinator where certificates name ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/discovery/grpc_discovery.h"
#include "node/server/grpc_server.h"
#include "tests/testing/certificates.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

GrpcCredentials CredentialsOf(const std::string& folder, const std::string& run, Rank rank) {
  const std::string node = absl::StrCat(folder, "/node-", rank);
  auto credentials = GrpcCredentials::Load({.ca = folder + "/ca.pem",
                                            .cert = node + ".pem",
                                            .key = node + ".key",
                                            .names = RankNames(run),
                                            .rank = rank});
  EXPECT_TRUE(credentials.ok()) << credentials.status();
  return *credentials;
}

// Once its role has moved, rank 0's certificate is not that of who has it.
TEST(GrpcCoordinatorProbe, WhoAnswersIsTheRankThatItIsAskedFor) {
  if (!testing::CanMakeCertificates()) GTEST_SKIP() << "openssl is not installed";
  const std::string folder = ::testing::TempDir() + "/probe_of_certificates";
  const std::string run = "run-17.example";
  ASSERT_TRUE(testing::MakeCertificates(folder, run, 3));
  const std::string service = ServiceOfRun("17");
  auto holder = GrpcServer::Start({.offered = {service}}, CredentialsOf(folder, run, 2), {});
  ASSERT_TRUE(holder.ok()) << holder.status();
  const CoordinatorProbe probe =
      GrpcCoordinatorProbe(CredentialsOf(folder, run, 1), /*loopback_only=*/true);
  const std::vector<HostAddress> addresses = {(*holder)->address()};
  const auto ask = [&](Rank rank) {
    return probe({.addresses = addresses, .service = service, .certified_name = "", .rank = rank},
                 std::chrono::steady_clock::now() + testing::Patient(std::chrono::minutes(1)));
  };
  const ProbeAnswer found = ask(2);
  EXPECT_EQ(found.coordinator, (*holder)->address()) << found.why_not;
  EXPECT_EQ(ask(0).coordinator, std::nullopt);
}

}  // namespace
}  // namespace grapevine
