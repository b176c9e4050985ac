// What a node makes of a receiver that breaks the protocol: it is given up with a reason.
#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/transport/grpc/grpc_gossip.grpc.pb.h"
#include "node/transport/grpc/grpc_transport.h"
#include "tests/node/transport/grpc/grpc_network.h"
#include "tests/node/transport/grpc/raw_client.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// The message that it is sent.
constexpr Tag kSent{.index = 7};

// Rank 0 as a receiver that says of a message what it likes.
class HostileReceiver final : public gossip::Gossip::Service {
 public:
  // `says`: what it acknowledges. Before that it grants kSent, or says `first`.
  explicit HostileReceiver(std::vector<uint64_t> says,
                           std::optional<gossip::Grant> first = std::nullopt,
                           gossip::ResumePoint resume = {})
      : says_(std::move(says)), first_(std::move(first)), resume_(std::move(resume)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~HostileReceiver() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }

 private:
  grpc::Status Exchange(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<gossip::ToSender, gossip::ToReceiver>* stream) override {
    gossip::ToReceiver message;
    stream->Read(&message);
    gossip::ToSender answer;
    *answer.mutable_hello() =
        HelloMessage(Proven(TestIdentity(0, 2), 1, EdgeEnd::kAnswerer, RunToken())).hello();
    *answer.mutable_hello()->mutable_resume() = resume_;
    stream->Write(answer);
    answer.mutable_grant()->add_tags()->set_index(kSent.index);
    if (first_.has_value()) *answer.mutable_grant() = *first_;
    stream->Write(answer);
    while (stream->Read(&message) && !message.chunk().has_crc32c()) continue;
    for (const uint64_t received : says_) {
      gossip::ToSender acknowledgement;
      acknowledgement.mutable_grant()->set_received(received);
      stream->Write(acknowledgement);
    }
    while (stream->Read(&message)) continue;
    return grpc::Status::OK;
  }

  const std::vector<uint64_t> says_;
  const std::optional<gossip::Grant> first_;
  const gossip::ResumePoint resume_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

// Rank 1 sends it a message, which it does not offer, and gives it up for what it says of it. So
// many messages are sent by then, and none is declined.
void ExpectDisbelieved(const HostileReceiver& receiver, int sent, const std::string& why) {
  RecordingSink sink;
  GrpcNode node(TestIdentity(1, 2), {}, &sink);
  node.transport().Join(kTestRun, {receiver.address(), node.address()});
  // What it says first may have ended it before: AwaitFailure has the reason.
  node.transport().Send(0, kSent, Zeros(3)).IgnoreError();
  const absl::Status failure = sink.AwaitFailure(0);
  EXPECT_TRUE(absl::IsInvalidArgument(failure)) << failure;
  EXPECT_THAT(std::string(failure.message()),
              HasSubstr(absl::StrCat("rank 0 (", receiver.address(), ") ", why)));
  node.transport().Shutdown();
  EXPECT_EQ(sink.sent(), sent);
  EXPECT_EQ(sink.declined(), 0);
}

TEST(GrpcHostileReceiver, AcknowledgingWhatWasNotSentEndsThePeer) {
  ExpectDisbelieved(HostileReceiver({2}), 0,
                    "acknowledged 2 messages, but was sent 1 and had acknowledged 0");
  ExpectDisbelieved(HostileReceiver({~uint64_t{0}}), 0,
                    "acknowledged 18446744073709551615 messages, but was sent 1");
}

TEST(GrpcHostileReceiver, AcknowledgingTwiceEndsThePeer) {
  ExpectDisbelieved(HostileReceiver({1, 1}), 1,
                    "acknowledged 1 messages, but was sent 1 and had acknowledged 1");
}

TEST(GrpcHostileReceiver, DecliningWhatIsNotOfferedEndsThePeer) {
  gossip::Grant foreseen, unknown;
  foreseen.add_declined()->set_index(kSent.index);
  unknown.add_declined()->set_index(99);
  ExpectDisbelieved(HostileReceiver({}, foreseen), 0,
                    "declined channel 0, index 7, step 0, which it is not offered");
  ExpectDisbelieved(HostileReceiver({}, unknown), 0,
                    "declined channel 0, index 99, step 0, which it is not offered");
}

TEST(GrpcHostileReceiver, GoingOnWhereItNeverWasEndsThePeer) {
  gossip::ResumePoint received, partial, offers;
  received.set_received(1);
  partial.set_partial_bytes(4);
  partial.mutable_partial()->set_index(kSent.index);
  offers.set_offers(1);
  offers.add_open_offers(1);
  ExpectDisbelieved(HostileReceiver({}, std::nullopt, received), 0,
                    "says that it has 1 messages, but was sent 0");
  ExpectDisbelieved(
      HostileReceiver({}, std::nullopt, partial), 0,
      "says that it has 4 bytes of channel 0, index 7, step 0, which it was not sent");
  ExpectDisbelieved(HostileReceiver({}, std::nullopt, offers), 0,
                    "says that it was offered 1 messages, of 0");
}

// The next call would bring the same.
TEST(GrpcHostileReceiver, AMessageBeyondTheMaximumEndsThePeer) {
  gossip::Grant large;
  for (int i = 0; i < 2'000'000; ++i) large.add_tags()->set_index(100'000);
  HostileReceiver receiver({}, large);
  RecordingSink sink;
  GrpcNode node(TestIdentity(1, 2), {}, &sink);
  node.transport().Join(kTestRun, {receiver.address(), node.address()});
  ASSERT_TRUE(node.transport().Send(0, kSent, Zeros(3)).ok());
  const absl::Status failure = sink.AwaitFailure(0);
  EXPECT_TRUE(absl::IsResourceExhausted(failure)) << failure;
  EXPECT_THAT(std::string(failure.message()), HasSubstr("ended the connection"));
}

}  // namespace
}  // namespace grapevine
