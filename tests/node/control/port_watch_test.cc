#include "node/control/port_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "node/server/grpc_server.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kPatience{20};

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
  EXPECT_THAT(
      RefuseConnections({FormatHostAddress(open->address()), address, "nonsense"}, kPatience),
      ElementsAre(false, true, false));
  EXPECT_THAT(RefuseConnections({address, address}, kPatience, /*stopped=*/true),
              ElementsAre(false, false))
      << "not tried";
  open->Shutdown(std::chrono::system_clock::now());
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
