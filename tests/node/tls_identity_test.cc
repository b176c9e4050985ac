// With --tls-identity a peer is taken only for the rank that its certificate names: at rank 0, on
// edges, by those who call and by those who answer.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/control/control_protocol.h"
#include "node/control/grpc_coordinator_service.h"
#include "node/identity/authentication.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_server.h"
#include "tests/node/transport/grpc/grpc_network.h"
#include "tests/node/transport/grpc/raw_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kRun[] = "run-17.example";
const RankNames kNames(kRun);
const RunToken kSecret("what all nodes of the run know");

// What the certificate of a rank of `run` lets its holder do.
class TlsIdentity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::string(::testing::TempDir() + "/tls_identity");
    made_ = testing::CanMakeCertificates() && testing::MakeCertificates(*folder_, kRun, 3);
  }
  void SetUp() override {
    if (!testing::CanMakeCertificates()) GTEST_SKIP() << "openssl is not installed";
    ASSERT_TRUE(made_);
  }

  // The files of rank `of`, for a node that says that it is `rank`.
  static TlsOptions FilesOf(Rank of, Rank rank) {
    const std::string node = absl::StrCat(*folder_, "/node-", of);
    return {.ca = *folder_ + "/ca.pem",
            .cert = node + ".pem",
            .key = node + ".key",
            .names = kNames,
            .rank = rank};
  }
  static GrpcCredentials CredentialsOf(Rank rank) {
    return *GrpcCredentials::Load(FilesOf(rank, rank));
  }
  // A channel of who has the certificate of `caller`, to the node that should be `callee`.
  static std::shared_ptr<grpc::Channel> Channel(Rank caller, Rank callee,
                                                const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    RequireRank(kNames, callee, &arguments);
    return grpc::CreateCustomChannel(address, CredentialsOf(caller).ForPeers(), arguments);
  }

  static std::string* folder_;
  static bool made_;
};

std::string* TlsIdentity::folder_ = nullptr;
bool TlsIdentity::made_ = false;

// Rank `rank` of two: a server with a transport.
class TlsNode {
 public:
  explicit TlsNode(Rank rank, const GrpcCredentials& credentials, std::string other = "127.0.0.1:1")
      : transport_(std::make_unique<GrpcTransport>(
            TestIdentity(rank, 2),
            GrpcTransportOptions{.connect_timeout = std::chrono::seconds(1),
                                 .credentials = credentials.ForPeers(),
                                 .names = kNames,
                                 .token = kSecret},
            &sink_)) {
    const GrpcServer::Register services[] = {
        [this](grpc::ServerBuilder& builder) { transport_->AddTo(builder); }};
    server_ = *GrpcServer::Start({.bind = {"127.0.0.1", 0}}, credentials, services);
    std::vector<std::string> addresses = {std::move(other), address()};
    if (rank == 0) std::swap(addresses[0], addresses[1]);
    transport_->Join(kTestRun, addresses);
  }
  // The transport shares the server's completion queue.
  ~TlsNode() {
    transport_->Shutdown();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    transport_.reset();
  }

  std::string address() const { return FormatHostAddress(server_->address()); }
  GrpcTransport& transport() { return *transport_; }
  RecordingSink& sink() { return sink_; }

 private:
  RecordingSink sink_;
  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(TlsIdentity, ACertificateThatDoesNotNameTheNodeIsRefusedByItself) {
  const auto credentials = GrpcCredentials::Load(FilesOf(2, 1));
  EXPECT_EQ(FailureOf(credentials.status()), Failure::kInput);
  EXPECT_THAT(std::string(credentials.status().message()),
              AllOf(HasSubstr("--tls-cert: " + FilesOf(2, 1).cert),
                    HasSubstr("does not name rank 1 as --tls-identity demands: "
                              "DNS:rank-1.run-17.example is not in its subjectAltName")));
  TlsOptions of_another_run = FilesOf(1, 1);
  of_another_run.names = RankNames("run-18.example");
  EXPECT_EQ(FailureOf(GrpcCredentials::Load(of_another_run).status()), Failure::kInput);
}

TEST_F(TlsIdentity, ACallerIsTheRankThatItsCertificateNamesOrNobody) {
  TlsNode one(1, CredentialsOf(1));
  const EdgeIdentity zero = Proven(TestIdentity(0, 2), 1, EdgeEnd::kCaller, kSecret);
  RawClient impostor(Channel(2, 1, one.address()));
  impostor.Send(HelloMessage(zero));
  const grpc::Status end = impostor.End();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(end.error_message(), "refused");
  RawClient honest(Channel(0, 1, one.address()));
  EXPECT_TRUE(honest.SayHello(zero));
  EXPECT_EQ(one.sink().failures(), 0);
}

// It hangs up in the handshake of TLS: the impostor does not even learn the caller's rank.
TEST_F(TlsIdentity, WhoAnswersIsTheRankThatItsCertificateNamesOrNobody) {
  TlsNode impostor(1, CredentialsOf(2));
  TlsNode zero(0, CredentialsOf(0), impostor.address());
  ASSERT_TRUE(zero.transport().Send(1, {.index = 1}, Zeros(3)).ok());
  const absl::Status failure = zero.sink().AwaitFailure(1);
  EXPECT_THAT(std::string(failure.message()), HasSubstr("rank-1.run-17.example"));
  EXPECT_EQ(impostor.sink().received(), 0);
}

TEST_F(TlsIdentity, MessagesTravelBetweenThoseWhoAreWhoTheySay) {
  TlsNode one(1, CredentialsOf(1));
  TlsNode zero(0, CredentialsOf(0), one.address());
  const Tag tag{.index = 1};
  ASSERT_TRUE(one.transport().Post(0, tag, Zeros(3)).ok());
  ASSERT_TRUE(zero.transport().Send(1, tag, Pattern(3, 1)).ok());
  EXPECT_TRUE(one.sink().AwaitReceived(0, tag));
}

control::Registration ProvenRegistration(Rank rank) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_rank(rank);
  registration.set_world_size(3);
  registration.set_nonce(static_cast<uint64_t>(rank) + 1);
  registration.set_address("127.0.0.1:7000");
  Prove(kSecret, &registration);
  return registration;
}

// How a registration ends: OK where rank 0 goes on listening, after its first word.
grpc::Status HowItEnds(const std::shared_ptr<grpc::Channel>& channel,
                       const control::Registration& registration) {
  auto stub = control::Control::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       testing::Patient(std::chrono::seconds(20)));
  auto stream = stub->Connect(&context);
  control::Report report;
  *report.mutable_registration() = registration;
  stream->Write(report);
  control::Directive directive;
  if (stream->Read(&directive)) {
    context.TryCancel();
    stream->Finish();
    return grpc::Status::OK;
  }
  return stream->Finish();
}

TEST_F(TlsIdentity, RankZeroTakesNobodyForAnotherRank) {
  GrpcCoordinatorService service(CoordinatorOptions{.own = ProvenRegistration(0),
                                                    .run_id = "run",
                                                    .round_limit = 10,
                                                    .peer_timeout = std::chrono::seconds(1)},
                                 {.on_metrics = [](Rank, const control::NodeMetrics&) {},
                                  .on_notice = [](const std::string&) {}},
                                 kSecret, kNames);
  const GrpcServer::Register services[] = {
      [&service](grpc::ServerBuilder& builder) { builder.RegisterService(&service); }};
  auto server = *GrpcServer::Start({.bind = {"127.0.0.1", 0}}, CredentialsOf(0), services);
  const std::string address = FormatHostAddress(server->address());
  const grpc::Status impostor = HowItEnds(Channel(2, 0, address), ProvenRegistration(1));
  EXPECT_EQ(impostor.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(impostor.error_message(), "refused");
  EXPECT_TRUE(HowItEnds(Channel(1, 0, address), ProvenRegistration(1)).ok());
  // Rank 0 itself has no certificate on its way to itself.
  const grpc::Status own = HowItEnds(server->InProcessChannel(), ProvenRegistration(0));
  EXPECT_TRUE(own.ok()) << own.error_message();
  server.reset();  // before the service
}

}  // namespace
}  // namespace grapevine
