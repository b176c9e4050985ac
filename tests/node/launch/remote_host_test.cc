// What a launcher makes of an agent that does not do what one does. The agents are shells; real
// ones are in tests/process/remote_launch_test.cc.
#include "node/launch/remote_host.h"

#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/launch/agent.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kGreeting[] = "echo grapevine-agent build; ";

// Waits until it is ready, or lost; says why.
absl::Status Connected(const std::string& script, milliseconds patience = milliseconds(60000),
                       milliseconds silence = milliseconds(60000)) {
  auto host = RemoteHost::Open({.name = "node2",
                                .command = {"/bin/sh", "-c", script},
                                .build = "build",
                                .prepare = {},
                                .patience = patience,
                                .silence = silence},
                               steady_clock::now());
  EXPECT_TRUE(host.ok()) << host.status();
  if (!host.ok()) return host.status();
  while (!(*host)->ready() && (*host)->status().ok()) {
    std::vector<pollfd> polled;
    (*host)->AddTo(&polled);
    AwaitAny(&polled, (*host)->deadline());
    (*host)->Look(steady_clock::now());
  }
  return (*host)->status();
}

void ExpectLost(const absl::Status& status, const std::string& why) {
  EXPECT_EQ(FailureOf(status), Failure::kRendezvous);
  EXPECT_THAT(std::string(status.message()), HasSubstr(why));
}

TEST(RemoteHost, WhoEndsAtOnceIsQuoted) {
  ExpectLost(Connected("echo no route to host >&2; exit 255"),
             "cannot be reached (exit code 255): no route to host");
  ExpectLost(Connected("kill -9 $$"), "cannot be reached (signal 9)");
  ExpectLost(Connected("exec /nowhere/grapevine"), "cannot run Grapevine (exit code 127)");
}

TEST(RemoteHost, WhoSaysNothingIsNotAwaitedForEver) {
  ExpectLost(Connected("exec sleep 600", milliseconds(50)),
             "did not answer within 0.05 s (--rendezvous-timeout)");
  // Long enough for the greeting of a busy machine.
  ExpectLost(Connected(std::string(kGreeting) + "exec sleep 600", milliseconds(3000)),
             "was not ready within 3 s");
  ExpectLost(
      Connected(std::string(kGreeting) + "exec sleep 600", milliseconds(60000), milliseconds(50)),
      "has been silent for 0.05 s (--peer-timeout)");
}

TEST(RemoteHost, OfAnotherBuildNothingIsAsked) {
  const absl::Status status = Connected("echo grapevine-agent other; exec sleep 600");
  EXPECT_EQ(status.message(),
            "has Grapevine other, and this machine build: install the same on both");
}

TEST(RemoteHost, NoiseIsNoAgent) {
  ExpectLost(Connected("yes"), "says much, but not that it is Grapevine");
  ExpectLost(Connected(std::string(kGreeting) + "printf '\\1\\0\\0\\0x'; exec sleep 600"),
             "says what no agent says");
  // A beat, and that rank 7, of which nobody has told it, has ended.
  ExpectLost(Connected(std::string(kGreeting) +
                       "printf '\\2\\0\\0\\0\\122\\0\\4\\0\\0\\0\\112\\2\\10\\7'; exec sleep 600"),
             "speaks of nodes before there are any");
}

}  // namespace
}  // namespace grapevine
