// A door and its callers, over loopback.
#include "node/probe/probe_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "node/probe/probe_call.h"
#include "node/probe/probe_wire.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const RunToken kDoorToken("sixteen letters.");
constexpr int64_t kLong = 30000;

class Door : public ::testing::Test {
 protected:
  Door() { door_ = Opened({.token = kDoorToken, .host = 3, .ports = {0, 0}}); }

  static std::unique_ptr<ProbeDoor> Opened(ProbeDoorOptions options) {
    options.lifetime = milliseconds(600000);
    auto door = ProbeDoor::Open(options);
    EXPECT_TRUE(door.ok()) << door.status();
    return *std::move(door);
  }

  probe::Target TargetOf(uint32_t host = 3) const {
    probe::Target target;
    target.set_name("127.0.0.1");
    target.set_port(*door_->ports()[0]);
    target.set_host(host);
    return target;
  }
  probe::Reached Reach(const probe::Target& target, const RunToken& token = kDoorToken,
                       int64_t patience = kLong) const {
    probe::Reach reach;
    *reach.mutable_target() = target;
    reach.set_patience_ms(patience);
    return ReachDoor(reach, token, stop_.get());
  }

  // A connection that has said nothing.
  UniqueDescriptor Connected() const {
    UniqueDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(*door_->ports()[0]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  // Whether the other end hangs up, after what it says.
  static bool Ends(const UniqueDescriptor& socket) {
    char bytes[256];
    while (true) {
      pollfd polled{socket.get(), POLLIN, 0};
      if (poll(&polled, 1, 30000) <= 0) return false;
      if (recv(socket.get(), bytes, sizeof(bytes), 0) <= 0) return true;
    }
  }

  std::unique_ptr<ProbeDoor> door_;
  const UniqueDescriptor stop_{eventfd(0, EFD_CLOEXEC)};
};

TEST_F(Door, EveryPortIsOpenAndFullPacketsComeBack) {
  ASSERT_EQ(door_->ports().size(), 2u);
  EXPECT_NE(*door_->ports()[0], *door_->ports()[1]);
  for (const absl::StatusOr<int>& port : door_->ports()) {
    probe::Target target = TargetOf();
    target.set_port(*port);
    const probe::Reached reached = Reach(target);
    EXPECT_EQ(reached.trouble().obstacle(), probe::NONE) << reached.trouble().text();
    EXPECT_EQ(reached.address(), "127.0.0.1");
    EXPECT_EQ(reached.interface(), "lo");
    EXPECT_GT(reached.interface_mtu(), 1000);
    EXPECT_GT(reached.segment(), 500);
    EXPECT_TRUE(reached.passes());
  }
}

TEST_F(Door, APortThatIsTakenIsSaid) {
  const auto second = Opened({.token = kDoorToken, .host = 4, .ports = {*door_->ports()[0], 0}});
  ASSERT_FALSE(second->ports()[0].ok());
  EXPECT_THAT(std::string(second->ports()[0].status().message()), HasSubstr("already in use"));
  EXPECT_TRUE(second->ports()[1].ok());
}

TEST_F(Door, WhoAnswersIsChecked) {
  const probe::Trouble other = Reach(TargetOf(2)).trouble();
  EXPECT_EQ(other.obstacle(), probe::OTHER_HOST);
  EXPECT_EQ(other.host(), 3u);
  EXPECT_EQ(Reach(TargetOf(), RunToken("another survey's")).trouble().obstacle(), probe::STRANGER);
}

TEST_F(Door, NobodyThereIsSaid) {
  const int closed = *door_->ports()[1];
  door_ = Opened({.token = kDoorToken, .host = 3, .ports = {0}});
  probe::Target target = TargetOf();
  target.set_port(closed);
  const probe::Trouble refused = Reach(target).trouble();
  EXPECT_EQ(refused.obstacle(), probe::NOBODY);
  EXPECT_EQ(refused.text(), "Connection refused");
  target.set_name("no.such.name.invalid.");
  EXPECT_EQ(Reach(target).trouble().obstacle(), probe::UNKNOWN_NAME);
}

// Something listens, and never says a word.
TEST_F(Door, WhoIsSilentIsNotAwaitedForEver) {
  const UniqueDescriptor silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(listen(silent.get(), 5), 0);
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  ASSERT_EQ(getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  probe::Target target = TargetOf();
  target.set_port(ntohs(address.sin_port));
  EXPECT_EQ(Reach(target, kDoorToken, 50).trouble().obstacle(), probe::STRANGER);
  // Nor is anybody, once this is to end.
  (void)eventfd_write(stop_.get(), 1);
  EXPECT_EQ(Reach(target).trouble().obstacle(), probe::NOBODY);
}

TEST_F(Door, StreamsAreCountedAndMessagesTimed) {
  probe::Stream stream;
  *stream.mutable_target() = TargetOf();
  stream.set_patience_ms(kLong);
  stream.set_echoes(true);
  stream.set_duration_ms(60);
  stream.set_bytes(uint64_t{1} << 40);
  const probe::Streamed streamed = StreamToDoor(stream, kDoorToken, stop_.get());
  EXPECT_EQ(streamed.trouble().obstacle(), probe::NONE) << streamed.trouble().text();
  EXPECT_GT(streamed.round_trip_ns(), 0);
  EXPECT_GT(streamed.bytes(), 0u);
  EXPECT_GT(streamed.nanoseconds(), 0);
}

TEST_F(Door, SmallMessagesMayBeAll) {
  probe::Stream stream;
  *stream.mutable_target() = TargetOf();
  stream.set_patience_ms(kLong);
  stream.set_echoes(true);
  const probe::Streamed streamed = StreamToDoor(stream, kDoorToken, stop_.get());
  EXPECT_EQ(streamed.trouble().obstacle(), probe::NONE) << streamed.trouble().text();
  EXPECT_GT(streamed.round_trip_ns(), 0);
  EXPECT_EQ(streamed.bytes(), 0u);
}

// What a caller asked for ends it, however much more it has.
TEST_F(Door, AStreamEndsAtItsBytes) {
  probe::Stream stream;
  *stream.mutable_target() = TargetOf();
  stream.set_patience_ms(kLong);
  stream.set_duration_ms(kLong);
  stream.set_bytes(100000);
  const probe::Streamed streamed = StreamToDoor(stream, kDoorToken, stop_.get());
  EXPECT_EQ(streamed.trouble().obstacle(), probe::NONE) << streamed.trouble().text();
  EXPECT_LE(streamed.bytes(), 100000u);
}

TEST_F(Door, WhoHasNoTokenHoldsNothing) {
  const UniqueDescriptor liar = Connected();
  const std::string hello(kProbeHelloBytes, 'x');
  ASSERT_EQ(send(liar.get(), hello.data(), hello.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(hello.size()));
  EXPECT_TRUE(Ends(liar));
  // One that says nothing is displaced by others.
  const UniqueDescriptor silent = Connected();
  std::vector<UniqueDescriptor> more;
  for (size_t i = 0; i < ProbeDoor::kMostStrangers + 1; ++i) more.push_back(Connected());
  EXPECT_TRUE(Ends(silent));
  EXPECT_EQ(Reach(TargetOf()).trouble().obstacle(), probe::NONE) << "and keeps nobody out";
}

TEST_F(Door, AnEchoEndsAtItsBytes) {
  const UniqueDescriptor caller = Connected();
  std::string nonce(kProbeNonceBytes, '\0');
  ASSERT_EQ(recv(caller.get(), nonce.data(), nonce.size(), MSG_WAITALL),
            static_cast<ssize_t>(nonce.size()));
  const std::string said =
      EncodeHello(kDoorToken, nonce, {ProbeKind::kEcho, milliseconds(60000), 3}) + "1234";
  ASSERT_EQ(send(caller.get(), said.data(), said.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(said.size()));
  EXPECT_TRUE(Ends(caller));
}

TEST_F(Door, HasATokenOrDoesNotOpen) { EXPECT_FALSE(ProbeDoor::Open({.ports = {0}}).ok()); }

}  // namespace
}  // namespace grapevine
