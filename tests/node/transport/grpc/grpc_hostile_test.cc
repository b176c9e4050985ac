// What a node makes of clients that break the protocol: unauthenticated callers are rejected and
// harm nobody; a peer that misbehaves is given up with a reason.
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "node/transport/grpc/grpc_gossip.grpc.pb.h"
#include "node/transport/grpc/grpc_transport.h"
#include "tests/node/transport/grpc/grpc_network.h"
#include "tests/node/transport/grpc/raw_client.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Tag kTag{.index = 7};
const char kData[] = "twelve bytes";
constexpr int64_t kElements = 3;

const RunToken kToken("the token of this run"), kNoToken;

// Rank 0, as rank 1 expects it.
EdgeIdentity Caller(const RunToken& token = kNoToken) {
  return Proven(TestIdentity(0, 2), 1, EdgeEnd::kCaller, token);
}

// Rank 1 of two is real; a test plays rank 0.
class GrpcHostile : public ::testing::Test {
 protected:
  explicit GrpcHostile(GrpcTransportOptions options = {})
      : token_(options.token), node_(TestIdentity(1, 2), options, &sink_) {
    node_.transport().Join(kTestRun, {"127.0.0.1:1", node_.address()});
  }

  // Says what an unauthenticated caller says and checks how it is rejected.
  void ExpectRejected(const std::string& bytes, grpc::StatusCode code, const std::string& why) {
    RawClient client(node_.address());
    client.SendBytes(bytes);
    const grpc::Status status = client.End();
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(why));
  }
  void ExpectRejected(const EdgeIdentity& identity, const std::string& why) {
    ExpectRejected(HelloMessage(identity).SerializeAsString(),
                   grpc::StatusCode::FAILED_PRECONDITION, why);
  }

  // Posts kTag, introduces rank 0, waits for the credit, says `bytes`, and checks
  // that rank 0 is given up and told why.
  void ExpectGivenUp(const std::string& bytes, absl::StatusCode code, const std::string& why) {
    const SharedSlice buffer = Zeros(kElements);
    ASSERT_TRUE(node_.transport().Post(0, kTag, buffer).ok());
    RawClient client(node_.address());
    ASSERT_TRUE(client.SayHello(Caller(token_)));
    ASSERT_TRUE(client.AwaitGrant(kTag));
    client.SendBytes(bytes);
    const absl::Status failure = sink_.AwaitFailure(0);
    EXPECT_EQ(failure.code(), code) << failure;
    EXPECT_THAT(std::string(failure.message()), HasSubstr("rank 0"));
    EXPECT_THAT(std::string(failure.message()), HasSubstr(why));
    EXPECT_THAT(client.End().error_message(), HasSubstr(why));
    EXPECT_EQ(sink_.failures(), 1);
    EXPECT_EQ(sink_.received(), 0);
  }
  void ExpectGivenUp(const gossip::ToReceiver& message, absl::StatusCode code,
                     const std::string& why) {
    ExpectGivenUp(message.SerializeAsString(), code, why);
  }

  // Rank 0 still gets through.
  void ExpectUnharmed() {
    const SharedSlice buffer = Zeros(kElements);
    ASSERT_TRUE(node_.transport().Post(0, kTag, buffer).ok());
    RawClient client(node_.address());
    ASSERT_TRUE(client.SayHello(Caller(token_)));
    ASSERT_TRUE(client.AwaitGrant(kTag));
    ASSERT_TRUE(client.Send(ChunkMessage(kTag, kData)));
    ASSERT_TRUE(sink_.AwaitReceived(0, kTag));
    EXPECT_EQ(std::memcmp(buffer.begin(), kData, 12), 0);
    EXPECT_EQ(sink_.failures(), 0);
  }

  const RunToken token_;
  RecordingSink sink_;
  GrpcNode node_;
};

TEST_F(GrpcHostile, PlainProtobufIsUnderstood) { ExpectUnharmed(); }

TEST_F(GrpcHostile, UnauthenticatedCallersOfEveryKindAreRejected) {
  const auto invalid = grpc::StatusCode::INVALID_ARGUMENT;
  ExpectRejected("garbage", invalid, "not a message");
  ExpectRejected("", invalid, "not a message");
  ExpectRejected(std::string(70000, 'x'), invalid, "70000 bytes without data");
  ExpectRejected(ChunkMessage(kTag, kData).SerializeAsString(), invalid, "sent no Hello");
  for (const Rank rank : {1, -5}) {
    EdgeIdentity nobody = Caller();
    nobody.rank = rank;
    ExpectRejected(HelloMessage(nobody).SerializeAsString(), invalid, "not a peer");
  }
  // More than the server takes in at all.
  ExpectRejected(std::string(8 << 20, 'x'), grpc::StatusCode::RESOURCE_EXHAUSTED, "max");
  ExpectUnharmed();
}

TEST_F(GrpcHostile, OtherRunsAreRejectedWithBothValues) {
  const EdgeIdentity ours = Caller();
  EdgeIdentity theirs = ours;
  theirs.protocol_version = 99;
  ExpectRejected(theirs, absl::StrCat("protocol version: ", EdgeIdentity::kProtocolVersion,
                                      " at rank 1, 99 at rank 0"));
  theirs = ours;
  theirs.run_id = "other";
  ExpectRejected(theirs, "their run ids differ; stop what is left of another run");
  theirs = ours;
  theirs.listener = 4;
  ExpectRejected(theirs, "rank 0 means rank 4, but this is rank 1; check the host file");
  theirs = ours;
  theirs.world_size = 3;
  ExpectRejected(theirs, "world size: 2 at rank 1, 3 at rank 0");
  theirs = ours;
  theirs.schema = "0badf00d";
  ExpectRejected(theirs, "tensor schema: 'schema' at rank 1, '0badf00d' at rank 0");
  theirs = ours;
  theirs.topology = "torus";
  ExpectRejected(theirs, "topology: 'ring' at rank 1, 'torus' at rank 0");
  theirs = ours;
  theirs.algorithm = "allreduce";
  ExpectRejected(theirs, "algorithm: 'dpsgd' at rank 1, 'allreduce' at rank 0");
  ExpectUnharmed();
}

// What the first call is told must not make a second one welcome.
TEST_F(GrpcHostile, AnUnauthenticatedCallerLearnsNothingOfTheRun) {
  EdgeIdentity guess;
  guess.run_id = "a guess";
  RawClient client(node_.address());
  client.Send(HelloMessage(guess));
  const grpc::Status end = client.End();
  EXPECT_FALSE(end.ok());
  for (const std::string& secret : {std::string(kTestRun), TestIdentity(0, 2).schema,
                                    TestIdentity(0, 2).topology, TestIdentity(0, 2).algorithm}) {
    EXPECT_THAT(end.error_message(), ::testing::Not(HasSubstr(secret)));
  }
  ExpectUnharmed();
}

TEST_F(GrpcHostile, ASecondStreamOfOneRankIsRejected) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  RawClient first(node_.address());
  ASSERT_TRUE(first.SayHello(Caller()));
  ExpectRejected(HelloMessage(Caller()).SerializeAsString(), grpc::StatusCode::ALREADY_EXISTS,
                 "rank 0 is connected already");
  ASSERT_TRUE(first.AwaitGrant(kTag));
  ASSERT_TRUE(first.Send(ChunkMessage(kTag, kData)));
  EXPECT_TRUE(sink_.AwaitReceived(0, kTag));
}

TEST_F(GrpcHostile, AnotherProcessTakesNoPlaceThatIsTaken) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  RawClient first(node_.address());
  ASSERT_TRUE(first.SayHello(Caller()));
  EdgeIdentity other = Caller();
  other.call = {.process = 99, .number = 7};
  ExpectRejected(HelloMessage(other).SerializeAsString(), grpc::StatusCode::ALREADY_EXISTS,
                 "rank 0 is connected already; is the same rank started twice?");
  ASSERT_TRUE(first.AwaitGrant(kTag));
  ASSERT_TRUE(first.Send(ChunkMessage(kTag, kData)));
  EXPECT_TRUE(sink_.AwaitReceived(0, kTag));
}

// However often a peer calls, it has one stream, and one more that is told to come again.
TEST_F(GrpcHostile, CallsWithoutEndFindOneStreamAtATime) {
  const SharedSlice buffer = Zeros(kElements);
  ASSERT_TRUE(node_.transport().Post(0, kTag, buffer).ok());
  EdgeIdentity caller = Caller();
  std::unique_ptr<RawClient> admitted;
  int turned_away = 0;
  for (caller.call.number = 1; caller.call.number <= 100; ++caller.call.number) {
    auto client = std::make_unique<RawClient>(node_.address());
    if (client->SayHello(caller)) {
      admitted = std::move(client);
    } else {
      ++turned_away;
      EXPECT_EQ(client->End().error_code(), grpc::StatusCode::UNAVAILABLE);
    }
  }
  EXPECT_GT(turned_away, 0);
  ASSERT_NE(admitted, nullptr);
  admitted.reset();
  std::unique_ptr<RawClient> last;
  do {
    last = std::make_unique<RawClient>(node_.address());
    ++caller.call.number;
  } while (!last->SayHello(caller));
  ASSERT_TRUE(last->AwaitGrant(kTag)) << "the credit is told of again";
  ASSERT_TRUE(last->Send(ChunkMessage(kTag, kData)));
  ASSERT_TRUE(sink_.AwaitReceived(0, kTag));
  EXPECT_EQ(std::memcmp(buffer.begin(), kData, 12), 0);
  EXPECT_EQ(sink_.failures(), 0);
}

TEST_F(GrpcHostile, AnotherProcessInThePlaceOfOneThatBrokeOffIsADeath) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  auto first = std::make_unique<RawClient>(node_.address());
  ASSERT_TRUE(first->SayHello(Caller()));
  ASSERT_TRUE(first->AwaitGrant(kTag));
  first->Cancel();
  EdgeIdentity other = Caller();
  other.call.process = 99;
  // Until the node has noticed, the place is taken.
  grpc::Status end;
  do {
    RawClient second(node_.address());
    ASSERT_FALSE(second.SayHello(other));
    end = second.End();
  } while (end.error_code() == grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(end.error_code(), grpc::StatusCode::ABORTED) << end.error_message();
  EXPECT_THAT(std::string(sink_.AwaitFailure(0).message()),
              HasSubstr("rank 0 died: another process has come in its place"));
}

TEST_F(GrpcHostile, AnUnaskedMessageEndsThePeer) {
  Tag other = kTag;
  other.index = 8;
  ExpectGivenUp(
      ChunkMessage(other, kData), absl::StatusCode::kInvalidArgument,
      "sent channel 0, index 8, step 0 without a post; 1 posted for it, first channel 0, index 7");
}

TEST_F(GrpcHostile, AWrongSizeEndsThePeer) {
  ExpectGivenUp(ChunkMessage(kTag, "too long by far"), absl::StatusCode::kInvalidArgument,
                "with 15 bytes, expected 12");
}

TEST_F(GrpcHostile, AWrongChecksumEndsThePeer) {
  gossip::ToReceiver message = ChunkMessage(kTag, kData);
  message.mutable_chunk()->set_crc32c(0x01020304);
  ExpectGivenUp(message, absl::StatusCode::kDataLoss, "with CRC-32C 01020304, its bytes have ");
}

TEST_F(GrpcHostile, AMissingChecksumEndsThePeer) {
  gossip::ToReceiver message = ChunkMessage(kTag, kData);
  message.mutable_chunk()->clear_crc32c();
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument, "without checksum");
}

TEST_F(GrpcHostile, AHoleEndsThePeer) {
  gossip::ToReceiver message = ChunkMessage(kTag, "half");
  message.mutable_chunk()->set_total(12);
  message.mutable_chunk()->set_offset(8);
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument, "from byte 8, expected byte 0");
}

TEST_F(GrpcHostile, AnEndlessOffsetEndsThePeer) {
  gossip::ToReceiver message = ChunkMessage(kTag, kData);
  message.mutable_chunk()->set_offset(~uint64_t{0});
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument,
                "sent 12 bytes from byte 9223372036854775807 of 12");
}

TEST_F(GrpcHostile, EmptyChunksEndThePeer) {
  gossip::ToReceiver message = ChunkMessage(kTag, "");
  message.mutable_chunk()->set_total(12);
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument, "a chunk of 0 bytes");
}

TEST_F(GrpcHostile, GarbageEndsThePeer) {
  ExpectGivenUp("\x1a\xff\xff\xff\xff\x7f", absl::StatusCode::kInvalidArgument, "not a message");
}

TEST_F(GrpcHostile, ASecondHelloEndsThePeer) {
  ExpectGivenUp(HelloMessage(Caller()), absl::StatusCode::kInvalidArgument, "said Hello twice");
}

gossip::ToReceiver OfferMessage(int64_t index) {
  gossip::ToReceiver message;
  message.mutable_offer()->mutable_tag()->set_index(index);
  message.mutable_offer()->set_bytes(12);
  return message;
}

TEST_F(GrpcHostile, OfferingAMessageOfWhichAPartIsHereEndsThePeer) {
  gossip::ToReceiver half = ChunkMessage(kTag, "half");
  half.mutable_chunk()->set_total(12);
  half.mutable_chunk()->clear_crc32c();
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  RawClient client(node_.address());
  ASSERT_TRUE(client.SayHello(Caller(token_)));
  ASSERT_TRUE(client.AwaitGrant(kTag));
  ASSERT_TRUE(client.Send(half));
  client.Send(OfferMessage(kTag.index));
  EXPECT_THAT(std::string(sink_.AwaitFailure(0).message()),
              HasSubstr("offered channel 0, index 7, step 0, of which it has sent a part"));
  EXPECT_THAT(client.End().error_message(), HasSubstr("of which it has sent a part"));
}

TEST_F(GrpcHostile, OfferingTwiceEndsThePeer) {
  node_.transport().Dial(std::vector<Rank>{0});
  RawClient client(node_.address());
  ASSERT_TRUE(client.SayHello(Caller(token_)));
  ASSERT_TRUE(client.Send(OfferMessage(3)));
  ASSERT_TRUE(sink_.AwaitOffered(0, {.index = 3}));
  client.Send(OfferMessage(3));
  EXPECT_THAT(std::string(sink_.AwaitFailure(0).message()),
              HasSubstr("offered channel 0, index 3, step 0 twice"));
  EXPECT_EQ(sink_.offered(), 1);
}

TEST_F(GrpcHostile, OffersBeyondTheBoundEndThePeer) {
  node_.transport().Dial(std::vector<Rank>{0});
  RawClient client(node_.address());
  ASSERT_TRUE(client.SayHello(Caller(token_)));
  for (int64_t i = 0; i <= Transport::kMaxQueued; ++i) client.Send(OfferMessage(i));
  EXPECT_THAT(std::string(sink_.AwaitFailure(0).message()),
              HasSubstr("offered more than 1024 messages at a time"));
  EXPECT_EQ(sink_.offered(), Transport::kMaxQueued);
}

TEST_F(GrpcHostile, ACreditThatNobodyAskedBackEndsThePeer) {
  gossip::ToReceiver message;
  message.mutable_withdrawn()->mutable_tag()->set_index(kTag.index);
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument,
                "returned the credit for channel 0, index 7, step 0, which was not withdrawn");
}

TEST_F(GrpcHostile, AnOfferOfNoWeightEndsThePeer) {
  gossip::ToReceiver message = OfferMessage(3);
  message.mutable_offer()->mutable_note()->set_weight(std::numeric_limits<double>::infinity());
  ExpectGivenUp(message, absl::StatusCode::kInvalidArgument, "with a weight of inf");
}

class GrpcImpatient : public GrpcHostile {
 protected:
  GrpcImpatient()
      : GrpcHostile({.peer_timeout = std::chrono::milliseconds(300),
                     .connect_timeout = std::chrono::milliseconds(600)}) {}
};

TEST_F(GrpcImpatient, ASilentPeerIsGivenUp) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(1)).ok());
  RawClient client(node_.address());
  ASSERT_TRUE(client.SayHello(Caller(token_)));
  gossip::ToReceiver heartbeat;
  heartbeat.mutable_heartbeat()->set_round(812);
  ASSERT_TRUE(client.Send(heartbeat));
  const absl::Status failure = sink_.AwaitFailure(0);
  EXPECT_TRUE(absl::IsDeadlineExceeded(failure)) << failure;
  EXPECT_THAT(std::string(failure.message()),
              ::testing::MatchesRegex(
                  "rank 0 \\(.*127.0.0.1.*\\) is silent: last heard [0-9.]+ s ago in round 812; "
                  "--peer-timeout is 0.3 s"));
}

TEST_F(GrpcImpatient, APeerThatIsNotThereIsGivenUp) {
  ASSERT_TRUE(node_.transport().Send(0, kTag, Zeros(1)).ok());
  const absl::Status failure = sink_.AwaitFailure(0);
  EXPECT_TRUE(absl::IsUnavailable(failure)) << failure;
  EXPECT_THAT(std::string(failure.message()),
              HasSubstr("rank 0 (127.0.0.1:1) could not be reached within 0.6 s "
                        "(--rendezvous-timeout)"));
  EXPECT_THAT(std::string(failure.message()), HasSubstr("onnection refused"));
  EXPECT_EQ(FailureOf(failure), Failure::kRendezvous) << "they were never connected";
}

TEST_F(GrpcImpatient, APeerThatBreaksOffAndStaysAwayIsGivenUp) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  RawClient client(node_.address());
  ASSERT_TRUE(client.SayHello(Caller(token_)));
  gossip::ToReceiver heartbeat;
  heartbeat.mutable_heartbeat()->set_round(41);
  ASSERT_TRUE(client.Send(heartbeat));
  ASSERT_TRUE(client.AwaitGrant(kTag));
  client.Cancel();
  const absl::Status failure = sink_.AwaitFailure(0);
  EXPECT_TRUE(absl::IsUnavailable(failure)) << failure;
  EXPECT_THAT(std::string(failure.message()), HasSubstr("rank 0"));
  EXPECT_THAT(std::string(failure.message()), HasSubstr("broke off the connection"));
  EXPECT_THAT(std::string(failure.message()),
              HasSubstr("it was not connected again within 0.3 s (--peer-timeout)"));
}

class GrpcWithToken : public GrpcHostile {
 protected:
  GrpcWithToken() : GrpcHostile({.token = kToken}) {}

  // Turned away without a word of what was wrong, though everything else fits.
  void ExpectRefused(const EdgeIdentity& identity) {
    RawClient client(node_.address());
    client.Send(HelloMessage(identity));
    const grpc::Status end = client.End();
    EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(end.error_message(), "refused");
  }
};

TEST_F(GrpcWithToken, WhoHasItGetsThrough) { ExpectUnharmed(); }

TEST_F(GrpcWithToken, WhoDoesNotShowItIsRefusedWithoutAWord) {
  ExpectRefused(Caller());
  ExpectRefused(Caller(RunToken("the token of another run")));
  EdgeIdentity different = Caller();
  different.run_id = different.topology = "guessed";
  different.protocol_version = 99;
  ExpectRefused(different);
  ExpectUnharmed();
}

// What was said to another node, by another one, in another run or at the other
// end of a stream opens nothing here.
TEST_F(GrpcWithToken, AProofOfSomethingElseIsRefused) {
  const EdgeIdentity self = TestIdentity(0, 2);
  EdgeIdentity told_to_another = Proven(self, 2, EdgeEnd::kCaller, kToken);
  told_to_another.listener = 1;
  ExpectRefused(told_to_another);
  EdgeIdentity of_another = Proven(TestIdentity(5, 2), 1, EdgeEnd::kCaller, kToken);
  of_another.rank = 0;
  ExpectRefused(of_another);
  EdgeIdentity in_another_run = self;
  in_another_run.run_id = "other";
  in_another_run = Proven(in_another_run, 1, EdgeEnd::kCaller, kToken);
  in_another_run.run_id = kTestRun;
  ExpectRefused(in_another_run);
  ExpectRefused(Proven(self, 1, EdgeEnd::kAnswerer, kToken));
  ExpectUnharmed();
}

// Neither a hang-up nor noise in the name of a rank ends the run.
TEST_F(GrpcWithToken, AnUnauthenticatedCallerInTheNameOfARankEndsNothing) {
  ASSERT_TRUE(node_.transport().Post(0, {.index = 1}, Zeros(kElements)).ok());
  {
    RawClient client(node_.address());
    ASSERT_TRUE(client.Send(HelloMessage(Caller())));
    client.SendBytes("\x1a\xff\xff\xff\xff\x7f");
    client.Cancel();
    EXPECT_FALSE(client.End().ok());
  }
  ExpectRefused(Caller());
  ExpectUnharmed();
}

TEST_F(GrpcWithToken, AVectorOfWhoIsNoNeighbourFailsNothing) {
  {
    RawClient client(node_.address());
    ASSERT_TRUE(client.SayHello(Caller(kToken)));
    client.Send(ChunkMessage(kTag, kData));
    EXPECT_THAT(client.End().error_message(), HasSubstr("sent vectors before it was admitted"));
  }
  EXPECT_EQ(sink_.failures(), 0);
}

// Rank 0 is rank 1's neighbour once rank 1 dials it or awaits a message of it. Of
// two that come earlier in its name one is rejected, the other waits.
TEST_F(GrpcWithToken, WhoIsNoNeighbourYetWaitsForAdmission) {
  RawClient callers[] = {RawClient(node_.address()), RawClient(node_.address())};
  std::promise<bool> first, second;
  std::atomic<int> over = 0;
  std::vector<std::thread> threads;
  for (RawClient& caller : callers) {
    threads.emplace_back([&] {
      caller.Send(HelloMessage(Caller(kToken)));
      const bool granted = caller.AwaitGrant(kTag);
      (over++ == 0 ? first : second).set_value(granted);
    });
  }
  EXPECT_FALSE(first.get_future().get());
  EXPECT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  EXPECT_TRUE(second.get_future().get());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sink_.failures(), 0);
}

// More than the server's buffers hold, from more than may be there at a time.
TEST_F(GrpcWithToken, LargeMessagesOfManyUnauthenticatedCallersCostNoPeerItsConnection) {
  ASSERT_TRUE(node_.transport().Post(0, kTag, Zeros(kElements)).ok());
  RawClient peer(node_.address());
  ASSERT_TRUE(peer.SayHello(Caller(kToken)));
  const std::string large(GrpcTransportOptions::kMaxChunkBytes, 'x');
  std::vector<std::thread> outsiders;
  constexpr int kThreads = 16, kEach = 16;
  for (int i = 0; i < kThreads; ++i) {
    outsiders.emplace_back([&] {
      std::vector<std::unique_ptr<RawClient>> clients;
      for (int j = 0; j < kEach; ++j) {
        clients.push_back(std::make_unique<RawClient>(node_.address()));
        clients.back()->SendBytes(large);
      }
      for (const auto& client : clients) EXPECT_FALSE(client->End().ok());
    });
  }
  for (std::thread& outsider : outsiders) outsider.join();
  ASSERT_TRUE(peer.AwaitGrant(kTag));
  ASSERT_TRUE(peer.Send(ChunkMessage(kTag, kData)));
  EXPECT_TRUE(sink_.AwaitReceived(0, kTag));
  EXPECT_EQ(sink_.failures(), 0);
}

class GrpcReserved : public GrpcHostile {
 protected:
  GrpcReserved() : GrpcHostile({.max_unknown_streams = 0}) {}
};

TEST_F(GrpcReserved, UnauthenticatedCallersBeyondTheBoundAreRejected) {
  ExpectRejected(HelloMessage(Caller()).SerializeAsString(), grpc::StatusCode::RESOURCE_EXHAUSTED,
                 "had not been authenticated when more than 0 came");
}

class GrpcCrowded : public GrpcHostile {
 protected:
  static constexpr int kPlaces = 4;
  GrpcCrowded() : GrpcHostile({.token = kToken, .max_unknown_streams = kPlaces}) {}
};

TEST_F(GrpcCrowded, StrangersDisplaceEachOtherAndKeepNoPeerOut) {
  // On one connection they come in order.
  const auto connection = grpc::CreateChannel(node_.address(), grpc::InsecureChannelCredentials());
  constexpr int kExtra = 6;
  std::vector<std::unique_ptr<RawClient>> strangers;
  for (int i = 0; i < kPlaces + kExtra; ++i) {
    strangers.push_back(std::make_unique<RawClient>(connection));
  }
  for (int oldest = 0; oldest < kExtra; ++oldest) {
    const grpc::Status end = strangers[oldest]->End();
    EXPECT_EQ(end.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << end.error_message();
    EXPECT_THAT(end.error_message(), HasSubstr("when more than 4 came"));
  }
  ExpectUnharmed();
  for (int i = kExtra; i < kPlaces + kExtra; ++i) strangers[i]->Cancel();
}

}  // namespace
}  // namespace grapevine
