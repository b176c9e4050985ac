#include "node/server/grpc_server.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/sync_stream.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "system/file_descriptor.h"
#include "tests/testing/certificates.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::unique_ptr<GrpcServer>> StartOn(HostAddress bind, TlsOptions tls = {}) {
  ASSIGN_OR_RETURN(const GrpcCredentials credentials, GrpcCredentials::Load(tls));
  return GrpcServer::Start({.bind = std::move(bind)}, credentials, {});
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
  context.set_deadline(std::chrono::system_clock::now() +
                       testing::Patient(std::chrono::seconds(10)));
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

// gRPC's reflection service; its messages are linked, but no header has them.
class Reflection {
 public:
  explicit Reflection(const std::shared_ptr<grpc::Channel>& channel) {
    using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;
    context_.set_deadline(std::chrono::system_clock::now() +
                          testing::Patient(std::chrono::seconds(30)));
    const grpc::internal::RpcMethod method(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        grpc::internal::RpcMethod::BIDI_STREAMING);
    stream_.reset(Factory::Create(channel.get(), method, &context_));
  }
  ~Reflection() {
    context_.TryCancel();
    if (!finished_) (void)stream_->Finish();
  }

  // The answer about the file that declares `symbol`.
  std::string Describe(const std::string& symbol) {
    const std::unique_ptr<google::protobuf::Message> request = New("Request");
    request->GetReflection()->SetString(
        request.get(), request->GetDescriptor()->FindFieldByName("file_containing_symbol"), symbol);
    const grpc::Slice sent(request->SerializeAsString());
    grpc::ByteBuffer received;
    if (!stream_->Write(grpc::ByteBuffer(&sent, 1)) || !stream_->Read(&received)) {
      return "the stream has ended";
    }
    grpc::Slice bytes;
    const std::unique_ptr<google::protobuf::Message> response = New("Response");
    if (!received.DumpToSingleSlice(&bytes).ok() ||
        !response->ParseFromArray(bytes.begin(), static_cast<int>(bytes.size()))) {
      return "no response";
    }
    return response->ShortDebugString();
  }

  // How the server ends it.
  grpc::StatusCode End() {
    grpc::ByteBuffer ignored;
    while (stream_->Read(&ignored)) continue;
    finished_ = true;
    return stream_->Finish().error_code();
  }

 private:
  static std::unique_ptr<google::protobuf::Message> New(const std::string& name) {
    const auto* type = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
        "grpc.reflection.v1alpha.ServerReflection" + name);
    return std::unique_ptr<google::protobuf::Message>(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
  bool finished_ = false;
};

std::shared_ptr<grpc::Channel> OwnConnection(const GrpcServer& server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(FormatHostAddress(server.address()),
                                   grpc::InsecureChannelCredentials(), arguments);
}

// Each holds a thread.
TEST(GrpcServer, ReflectionStreamsKeepNobodyOut) {
  auto server = StartOn({"127.0.0.1", 0});
  ASSERT_TRUE(server.ok()) << server.status();
  std::vector<std::unique_ptr<Reflection>> held;
  constexpr int kHeld = 40;
  for (int i = 0; i < kHeld; ++i) {
    held.push_back(std::make_unique<Reflection>(OwnConnection(**server)));
    EXPECT_THAT(held.back()->Describe("grpc.health.v1.Health"),
                HasSubstr("file_descriptor_response"));
  }
  EXPECT_EQ(Check(OwnConnection(**server), "").answer, kServing);
  for (int i = 0; i < kHeld - 4; ++i) {
    EXPECT_EQ(held[static_cast<size_t>(i)]->End(), grpc::StatusCode::CANCELLED) << i;
  }
  EXPECT_THAT(held.back()->Describe("grpc.health.v1.Health"),
              HasSubstr("file_descriptor_response"));
}

// What this process may open, for a test; low, so that little fills it.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

// Connects, and says nothing.
UniqueDescriptor SilentConnection(const GrpcServer& server) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.address().port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueDescriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return connection;
}

const std::chrono::milliseconds kPatience = testing::Patient(std::chrono::seconds(20));
// Whether the server hangs up on one of them in time.
bool AwaitHangUp(std::vector<pollfd> ends) {
  return poll(ends.data(), ends.size(), static_cast<int>(kPatience.count())) > 0;
}
bool AwaitHangUp(const UniqueDescriptor& connection) {
  return AwaitHangUp(std::vector<pollfd>{{connection.get(), POLLRDHUP, 0}});
}

absl::StatusOr<std::unique_ptr<GrpcServer>> StartImpatient(std::chrono::milliseconds handshake,
                                                           std::chrono::milliseconds idle) {
  return GrpcServer::Start({.handshake_timeout = handshake, .idle_timeout = idle},
                           *GrpcCredentials::Load({}), {});
}

TEST(GrpcServer, AConnectionThatSaysNothingIsEnded) {
  auto server = StartImpatient(std::chrono::milliseconds(100), std::chrono::hours(1));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AwaitHangUp(SilentConnection(**server)));
  EXPECT_EQ(Check(OwnConnection(**server), "").answer, kServing);
}

TEST(GrpcServer, AConnectionWithoutACallIsEndedAndOneWithACallIsNot) {
  auto server = StartImpatient(std::chrono::hours(1), std::chrono::seconds(1));
  ASSERT_TRUE(server.ok()) << server.status();
  Reflection busy(OwnConnection(**server));
  EXPECT_THAT(busy.Describe("grpc.health.v1.Health"), HasSubstr("file_descriptor_response"));
  const std::shared_ptr<grpc::Channel> idle = OwnConnection(**server);
  EXPECT_EQ(Check(idle, "").answer, kServing);  // has a connection, which is idle now
  const auto deadline = std::chrono::system_clock::now() + kPatience;
  EXPECT_TRUE(idle->WaitForStateChange(GRPC_CHANNEL_READY, deadline)) << "it is still there";
  EXPECT_THAT(busy.Describe("grpc.health.v1.Health"), HasSubstr("file_descriptor_response"));
}

TEST(GrpcServer, SaysWithWhichLimitSoManyMayBeOpen) {
  for (const int open : {36, 54, 300}) {
    const FewDescriptors few(static_cast<rlim_t>(GrpcAcceptor::LimitFor(open)));
    EXPECT_EQ(GrpcAcceptor::MaxDescriptors(/*nodes=*/100), open);
  }
}

TEST(GrpcServer, ConnectionsLeaveDescriptorsForFiles) {
  // Half of them; this process holds both ends of a connection.
  const FewDescriptors few(256);
  auto server = StartOn({"127.0.0.1", 0});
  ASSERT_TRUE(server.ok()) << server.status();
  std::vector<UniqueDescriptor> silent;
  std::vector<pollfd> ends;
  for (int i = 0; i < 110; ++i) {
    silent.push_back(SilentConnection(**server));
    ends.push_back({silent.back().get(), POLLRDHUP, 0});
  }
  EXPECT_TRUE(AwaitHangUp(ends)) << "nobody was rejected";
  EXPECT_TRUE(std::ifstream("/proc/self/stat").is_open());
  silent.clear();
  // As soon as the server has noticed.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string answer;
  while (answer != kServing && std::chrono::steady_clock::now() < deadline) {
    answer = Check(OwnConnection(**server), "").answer;
  }
  EXPECT_EQ(answer, kServing);
}

TEST(GrpcServer, ReflectionDescribesEveryService) {
  auto server = StartOn({"127.0.0.1", 0});
  ASSERT_TRUE(server.ok()) << server.status();
  Reflection reflection(OwnConnection(**server));
  for (const std::string service :
       {"grapevine.gossip.Gossip", "grapevine.control.Control", "grpc.health.v1.Health"}) {
    EXPECT_THAT(reflection.Describe(service),
                AllOf(HasSubstr("file_descriptor_response"), Not(HasSubstr("error_response"))))
        << service;
  }
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

constexpr char kLocal[] = "IP:127.0.0.1 DNS:localhost";

// Two authorities, each with a certificate for 127.0.0.1.
class Tls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!testing::CanMakeCertificates()) return;
    folder_ = new std::string(::testing::TempDir() + "/tls");
    for (const std::string name : {"one", "two"}) {
      EXPECT_TRUE(testing::MakeCertificates(*folder_ + "/" + name, "run", 1, kLocal));
    }
  }

  void SetUp() override {
    if (folder_ == nullptr) GTEST_SKIP() << "openssl is not installed";
  }

  static void Run(const std::string& command) {
    ASSERT_EQ(std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()), 0) << command;
  }

  static TlsOptions Options(const std::string& name) {
    const std::string base = *folder_ + "/" + name;
    return {.ca = base + "/ca.pem", .cert = base + "/node-0.pem", .key = base + "/node-0.key"};
  }

  static grpc::Status CheckWith(const GrpcServer& server, const TlsOptions& tls) {
    const auto credentials = GrpcCredentials::Load(tls);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    const auto channel = credentials->ForChannel("127.0.0.1");
    EXPECT_TRUE(channel.ok());
    return Check(grpc::CreateChannel(FormatHostAddress(server.address()), *channel), "").status;
  }

  static void ExpectUnfit(const TlsOptions& options, const ::testing::Matcher<std::string>& message,
                          absl::Time now = absl::Now()) {
    const auto credentials = GrpcCredentials::Load(options, now);
    EXPECT_EQ(FailureOf(credentials.status()), Failure::kInput);
    EXPECT_THAT(std::string(credentials.status().message()), message);
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
  // Trusts the server, but is not trusted.
  TlsOptions outsider = Options("two");
  outsider.ca = *folder_ + "/both.pem";
  Run("cat " + Options("one").ca + " " + Options("two").ca + " > " + outsider.ca);
  EXPECT_EQ(CheckWith(**server, outsider).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(Tls, RankZeroReachesItselfWithoutACertificateForItsName) {
  auto server = StartOn({"127.0.0.1", 0}, Options("one"));
  ASSERT_TRUE(server.ok());
  EXPECT_TRUE(Check((*server)->InProcessChannel(), "").status.ok());
}

TEST_F(Tls, AKeyOfAnotherCertificateIsNamed) {
  TlsOptions mixed = Options("one");
  mixed.key = Options("two").key;
  ExpectUnfit(mixed, AllOf(HasSubstr("--tls-key: " + mixed.key), HasSubstr(mixed.cert),
                           HasSubstr("do not belong together")));
}

TEST_F(Tls, AnEncryptedKeyIsNamed) {
  TlsOptions encrypted = Options("one");
  encrypted.key = *folder_ + "/encrypted.key";
  for (const std::string form : {"pkcs8 -topk8", "ec -aes256"}) {
    Run("openssl " + form + " -passout pass:secret -in " + Options("one").key + " -out " +
        encrypted.key);
    ExpectUnfit(encrypted, AllOf(HasSubstr("--tls-key: " + encrypted.key + " is encrypted"),
                                 HasSubstr("openssl pkey")));
  }
}

TEST_F(Tls, ACertificateOfAnotherAuthorityIsNamed) {
  TlsOptions foreign = Options("one");
  foreign.ca = Options("two").ca;
  ExpectUnfit(foreign, AllOf(HasSubstr("--tls-cert: " + foreign.cert),
                             HasSubstr("is not signed by --tls-ca")));
}

// The test's certificates are valid for two days.
TEST_F(Tls, ItsDatesAreLookedAt) {
  const absl::Time now = absl::Now();
  const TlsOptions options = Options("one");
  const auto valid = GrpcCredentials::Load(options, now);
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_THAT(valid->warning(), AllOf(HasSubstr("--tls-cert: " + options.cert + " expires on 20"),
                                      HasSubstr(" UTC; connections that begin later will fail")));
  ExpectUnfit(options,
              AllOf(HasSubstr("--tls-cert: " + options.cert + " expired on 20"),
                    HasSubstr(" UTC; make a new one")),
              now + absl::Hours(72));
  ExpectUnfit(options,
              AllOf(HasSubstr("--tls-cert: " + options.cert + " is not valid before 20"),
                    HasSubstr("clock of this machine")),
              now - absl::Hours(72));
}

TEST_F(Tls, AnAuthorityThatExpiresIsNamed) {
  ASSERT_TRUE(testing::MakeCertificates(*folder_ + "/long", "run", 1, kLocal));
  // Another one for the node, of the authority that is there.
  ASSERT_TRUE(testing::MakeCertificates(*folder_ + "/long", "run", 1, kLocal, /*days=*/300));
  const TlsOptions options = Options("long");
  const auto valid = GrpcCredentials::Load(options);
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_THAT(valid->warning(), HasSubstr("--tls-ca: " + options.ca + " expires on 20"));
  ExpectUnfit(options, HasSubstr("--tls-ca: " + options.ca + " expired on 20"),
              absl::Now() + absl::Hours(72));
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
  // Callers without a certificate would be taken for any rank.
  const auto none = GrpcCredentials::Load({.insecure = true, .names = RankNames("run")});
  EXPECT_EQ(FailureOf(none.status()), Failure::kUsage);
  const auto both = GrpcCredentials::Load({.ca = "a", .cert = "b", .key = "c", .insecure = true});
  EXPECT_EQ(FailureOf(both.status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
