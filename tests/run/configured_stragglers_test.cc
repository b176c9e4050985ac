#include <gtest/gtest.h>

#include "run/config/config_values.h"

namespace grapevine {
namespace {

TEST(ConfiguredStragglers, AreThoseOfBothFlags) {
  Config config;
  config.set_nodes(4);
  config.add_slow("3:2.5");
  EXPECT_EQ(ConfiguredStragglers(config, config.nodes())->Factor(3, 0), 2.5);
  config.set_straggler("rank=0:factor=2");
  EXPECT_EQ(ConfiguredStragglers(config, config.nodes())->Factor(0, 9), 2);
}

}  // namespace
}  // namespace grapevine
