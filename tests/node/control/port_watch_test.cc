#include "node/control/port_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/server/grpc_server.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;

const std::chrono::seconds kPatience = Patient(std::chrono::seconds(20));

std::unique_ptr<GrpcServer> Listen(int port = 0) {
  auto server = GrpcServer::Start({.bind = {"127.0.0.1", port}}, *GrpcCredentials::Load({}), {});
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(PortWatch, TellsAPortThatIsClosedFromOneThatIsOpen) {
  const auto open = Listen();
  auto closed = Listen();
  const std::string address = FormatHostAddress(closed->address());
  closed->Shutdown(std::chrono::system_clock::now());
  closed.reset();
  PortProbe probe;
  EXPECT_THAT(probe.Refuse({FormatHostAddress(open->address()), address, "nonsense"}, kPatience),
              ElementsAre(false, true, false));
  EXPECT_THAT(probe.Refuse({address, address}, kPatience, /*stopped=*/true),
              ElementsAre(false, false))
      << "not tried";
  open->Shutdown(std::chrono::system_clock::now());
}

// Its resolver's thread lives as long as that does.
TEST(PortProbe, ANameThatNobodyResolvesHoldsNothingUp) {
  auto closed = Listen();
  const HostAddress address = closed->address();
  closed->Shutdown(std::chrono::system_clock::now());
  closed.reset();
  std::promise<void> answer;
  PortProbe probe([answered = answer.get_future().share()](
                      const std::string& name) -> absl::StatusOr<std::vector<std::string>> {
    if (name == "mute.test") answered.wait();
    if (name == "nobody.test") return absl::UnavailableError("no such name");
    return std::vector<std::string>{"127.0.0.1"};
  });
  const auto at = [&](const std::string& host) { return FormatHostAddress({host, address.port}); };
  EXPECT_THAT(probe.Refuse({at("a.test"), at("nobody.test"), at("127.0.0.1")}, kPatience),
              ElementsAre(true, false, true));
  constexpr std::chrono::milliseconds kMoment{50};
  EXPECT_THAT(probe.Refuse({at("mute.test"), at("127.0.0.1")}, kMoment), ElementsAre(false, true));
  EXPECT_THAT(probe.Refuse({at("a.test"), at("127.0.0.1")}, kMoment), ElementsAre(false, true))
      << "another name waits for that one";
  answer.set_value();
}

TEST(PortWatch, SaysWhoseServerGoes) {
  const auto stays = Listen();
  auto goes = Listen();
  std::promise<Rank> closed;
  std::optional<PortWatch> watch;
  watch.emplace([&](Rank rank) {
    watch->Watch({});  // once
    closed.set_value(rank);
  });
  watch->Watch({{3, FormatHostAddress(stays->address())}, {4, FormatHostAddress(goes->address())}});
  goes->Shutdown(std::chrono::system_clock::now());
  goes.reset();
  auto told = closed.get_future();
  ASSERT_EQ(told.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(told.get(), 4);
  watch.reset();
  stays->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace grapevine::testing
