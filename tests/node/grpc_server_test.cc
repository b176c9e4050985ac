#include "node/grpc_server.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/failure.h"

namespace grapevine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<std::unique_ptr<GrpcServer>> StartOn(HostAddress bind, TlsOptions tls = {}) {
  const absl::StatusOr<GrpcCredentials> credentials = GrpcCredentials::Load(tls);
  if (!credentials.ok()) return credentials.status();
  return GrpcServer::Start({.bind = std::move(bind)}, *credentials, {});
}

// Calls grpc.health.v1.Health/Check over bytes: the wire form is one field.
struct Health {
  grpc::Status status;
  std::string answer;
};
Health Check(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  std::string request;
  if (!service.empty()) {
    request = std::string("\x0a") + static_cast<char>(service.size()) + service;
  }
  const grpc::Slice slice(request);
  grpc::ByteBuffer in(&slice, 1), out;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel);
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", in, &queue);
  call->StartCall();
  Health health;
  call->Finish(&out, &health.status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (health.status.ok() && out.Dump(&slices).ok()) {
    for (const grpc::Slice& s : slices) {
      health.answer.append(reinterpret_cast<const char*>(s.begin()), s.size());
    }
  }
  return health;
}

const std::string kServing = "\x08\x01";
const std::string kNotServing = "\x08\x02";

TEST(GrpcServer, ReportsTheChosenPortAndItsHealth) {
  auto server = StartOn({"127.0.0.1", 0});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->address().port, 0);
  auto channel = grpc::CreateChannel(FormatHostAddress((*server)->address()),
                                     grpc::InsecureChannelCredentials());
  EXPECT_EQ(Check(channel, "").answer, kServing);
  EXPECT_EQ(Check(channel, "grapevine").answer, kNotServing);
  (*server)->SetReady(true);
  EXPECT_EQ(Check(channel, "grapevine").answer, kServing);
  EXPECT_EQ(Check((*server)->InProcessChannel(), "grapevine").answer, kServing);
}

TEST(GrpcServer, APortInUseIsNamedWithTheRemedy) {
  auto first = StartOn({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  const HostAddress taken = (*first)->address();
  const auto second = StartOn(taken);
  EXPECT_EQ(FailureOf(second.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(FormatHostAddress(taken)), HasSubstr("in use"), HasSubstr("--bind")));
}

TEST(GrpcServer, AForeignAddressIsNamed) {
  const auto server = StartOn({"192.0.2.1", 0}, {.insecure = true});  // TEST-NET-1
  EXPECT_EQ(FailureOf(server.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(server.status().message()),
              AllOf(HasSubstr("192.0.2.1:0"), HasSubstr("assign")));
}

TEST(GrpcServer, OffLoopbackNeedsTlsOrInsecure) {
  const auto refused = StartOn({"0.0.0.0", 0});
  EXPECT_EQ(FailureOf(refused.status()), Failure::kUsage);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("0.0.0.0"), HasSubstr("--tls-ca"), HasSubstr("--insecure")));
  EXPECT_TRUE(StartOn({"0.0.0.0", 0}, {.insecure = true}).ok());
  const auto channel = GrpcCredentials::Load({})->ForChannel("example.org");
  EXPECT_EQ(FailureOf(channel.status()), Failure::kUsage);
  EXPECT_TRUE(GrpcCredentials::Load({})->ForChannel("127.0.0.1").ok());
}

// Two authorities, each with a certificate for 127.0.0.1.
class Tls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::system("openssl version >/dev/null 2>&1") != 0) return;
    folder_ = new std::string(testing::TempDir() + "/tls");
    std::filesystem::create_directories(*folder_);
    for (const std::string name : {"one", "two"}) {
      const std::string base = *folder_ + "/" + name;
      Run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca-" + name + " -keyout " +
          base + "-ca.key -out " + base + "-ca.pem");
      Run("openssl req -newkey rsa:2048 -nodes -subj /CN=node -keyout " + base + ".key -out " +
          base + ".csr");
      std::ofstream(base + ".ext") << "subjectAltName=IP:127.0.0.1,DNS:localhost\n";
      Run("openssl x509 -req -days 2 -in " + base + ".csr -CA " + base + "-ca.pem -CAkey " + base +
          "-ca.key -CAcreateserial -extfile " + base + ".ext -out " + base + ".pem");
    }
  }

  void SetUp() override {
    if (folder_ == nullptr) GTEST_SKIP() << "openssl is not installed";
  }

  static void Run(const std::string& command) {
    ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
  }

  static TlsOptions Options(const std::string& name) {
    const std::string base = *folder_ + "/" + name;
    return {.ca = base + "-ca.pem", .cert = base + ".pem", .key = base + ".key"};
  }

  static grpc::Status CheckWith(const GrpcServer& server, const TlsOptions& tls) {
    const auto credentials = GrpcCredentials::Load(tls);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    const auto channel = credentials->ForChannel("127.0.0.1");
    EXPECT_TRUE(channel.ok());
    return Check(grpc::CreateChannel(FormatHostAddress(server.address()), *channel), "").status;
  }

  static std::string* folder_;
};
std::string* Tls::folder_ = nullptr;

TEST_F(Tls, OnlyNodesOfTheSameAuthorityTalk) {
  auto server = StartOn({"127.0.0.1", 0}, Options("one"));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(CheckWith(**server, Options("one")).ok());
  EXPECT_EQ(CheckWith(**server, Options("two")).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(CheckWith(**server, {}).error_code(), grpc::StatusCode::UNAVAILABLE);
  TlsOptions stranger = Options("two");
  stranger.ca = Options("one").ca;  // trusts the server, but is not trusted
  EXPECT_EQ(CheckWith(**server, stranger).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(Tls, RankZeroReachesItselfWithoutACertificateForItsName) {
  auto server = StartOn({"127.0.0.1", 0}, Options("one"));
  ASSERT_TRUE(server.ok());
  EXPECT_TRUE(Check((*server)->InProcessChannel(), "").status.ok());
}

TEST_F(Tls, AKeyOfAnotherCertificateIsNamed) {
  TlsOptions mixed = Options("one");
  mixed.key = Options("two").key;
  const auto server = StartOn({"127.0.0.1", 0}, mixed);
  EXPECT_EQ(FailureOf(server.status()), Failure::kInput);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("do not belong together"));
}

TEST_F(Tls, FilesThatAreMissingOrNoPemAreNamed) {
  TlsOptions absent = Options("one");
  absent.cert = *folder_ + "/absent.pem";
  const auto missing = GrpcCredentials::Load(absent);
  EXPECT_EQ(FailureOf(missing.status()), Failure::kInput);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(HasSubstr("--tls-cert"), HasSubstr("absent.pem")));

  TlsOptions swapped = Options("one");
  swapped.key = swapped.ca;
  const auto wrong = GrpcCredentials::Load(swapped);
  EXPECT_EQ(FailureOf(wrong.status()), Failure::kInput);
  EXPECT_THAT(std::string(wrong.status().message()),
              AllOf(HasSubstr("--tls-key"), HasSubstr("PRIVATE KEY")));
}

TEST(TlsFlags, AllThreeOrNone) {
  const auto some = GrpcCredentials::Load({.ca = "ca.pem", .key = "key.pem"});
  EXPECT_EQ(FailureOf(some.status()), Failure::kUsage);
  EXPECT_THAT(std::string(some.status().message()), HasSubstr("missing: --tls-cert"));
  const auto both = GrpcCredentials::Load({.ca = "a", .cert = "b", .key = "c", .insecure = true});
  EXPECT_EQ(FailureOf(both.status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
