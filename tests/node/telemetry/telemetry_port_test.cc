#include "node/telemetry/telemetry_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/status.h"
#include "node/telemetry/prometheus_exposition.h"
#include "tests/testing/http_client.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::HttpGet;

TEST(TelemetryPort, LivesBeforeItIsReady) {
  std::atomic<bool> ready = false;
  const auto port = OpenTelemetryPort({"127.0.0.1", 0}, "", {.rank = 3},
                                      [&ready] { return NodeFigures{.ready = ready.load()}; });
  ASSERT_TRUE(port.ok()) << port.status();
  const int number = (*port)->port();
  EXPECT_EQ(HttpGet(number, "/healthz").status, 200);
  EXPECT_EQ(HttpGet(number, "/readyz").status, 503);
  EXPECT_THAT(HttpGet(number, "/metrics").body, HasSubstr("grapevine_ready{rank=\"3\"} 0\n"));
  ready = true;
  EXPECT_EQ(HttpGet(number, "/healthz").status, 200);
  EXPECT_EQ(HttpGet(number, "/readyz").status, 200);
  const auto metrics = HttpGet(number, "/metrics");
  EXPECT_THAT(metrics.head, HasSubstr(kExpositionType));
  EXPECT_THAT(metrics.body, HasSubstr("grapevine_ready{rank=\"3\"} 1\n"));
}

TEST(TelemetryPort, NamesItsPathsAtAnyOther) {
  const HttpAnswer answer = TelemetryAt("/", {}, {});
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body,
              AllOf(HasSubstr("/metrics"), HasSubstr("/healthz"), HasSubstr("/readyz")));
}

TEST(TelemetryPort, OneThatIsTakenIsNamedWithTheFlag) {
  const auto first = OpenTelemetryPort({"127.0.0.1", 0}, "", {}, [] { return NodeFigures(); });
  ASSERT_TRUE(first.ok()) << first.status();
  const HostAddress taken{"127.0.0.1", (*first)->port()};
  for (const absl::Status& status :
       {CheckTelemetryPort(taken),
        OpenTelemetryPort(taken, "", {}, [] { return NodeFigures(); }).status()}) {
    EXPECT_EQ(FailureOf(status), Failure::kRendezvous);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(FormatHostAddress(taken)), HasSubstr("Address already in use"),
                      HasSubstr("--metrics-port")));
  }
}

}  // namespace
}  // namespace grapevine
