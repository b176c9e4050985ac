#include <gtest/gtest.h>

#include "sim/engine/step_observers.h"
#include "sim/platform/platform_request.h"
#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

TEST(LinkStatisticsTest, ListsTheBusiestFirst) {
  const auto platform =
      MakePlatform({.network = "racks:hosts=2", .bandwidth = 1'000'000'000, .hosts = 4});
  ASSERT_TRUE(platform.ok()) << platform.status();
  std::vector<double> bytes((*platform)->links().size());
  bytes[1] = 125'000;  // a full millisecond of 1 Gbit/s
  bytes[0] = 31'250;
  const auto busiest = BusiestLinks(**platform, bytes, kMillisecond, 10);
  ASSERT_EQ(busiest.size(), 2u);
  EXPECT_EQ(busiest[0].name, (*platform)->LinkName(1));
  EXPECT_EQ(busiest[0].bytes, 125'000);
  EXPECT_DOUBLE_EQ(busiest[0].utilization, 1);
  EXPECT_DOUBLE_EQ(busiest[1].utilization, 0.25);
  EXPECT_EQ(BusiestLinks(**platform, bytes, kMillisecond, 1).size(), 1u);
  EXPECT_TRUE(BusiestLinks(**platform, {}, kMillisecond, 10).empty());
}

}  // namespace
}  // namespace grapevine::testing
