#include <gtest/gtest.h>

#include "report/comparison.h"

namespace grapevine {
namespace {

TEST(RepeatCommand, NamesWhatIsNotTheDefault) {
  Config config;
  config.set_nodes(8);
  config.set_batch(16);  // the default
  config.set_out("runs/here");
  config.set_revision("abc");
  EXPECT_EQ(RepeatCommand(config), "grapevine train --nodes=8");
}

TEST(RepeatCommand, IsOfTheSimulatorForASimulatedRun) {
  Config config;
  config.set_network("cloud-region");
  config.set_bandwidth("100Mbit");
  config.set_half_duplex(true);
  config.add_slow("1:3");
  config.add_slow("2:2.5");
  EXPECT_EQ(RepeatCommand(config),
            "grapevine sim '--slow=1:3\\,2:2.5' --network=cloud-region --bandwidth=100Mbit "
            "--half-duplex");
}

TEST(RepeatCommand, IsOfAnotherProgramWhereThatComputedTheGradients) {
  Config config;
  config.set_model("outside");
  config.set_nodes(8);
  config.set_rounds(int64_t{1} << 32);  // as many as the programs take
  config.set_eval_every(4294967296);
  config.set_topology("torus");
  config.set_log_every(10);
  const std::string command = RepeatCommand(config);
  EXPECT_EQ(command, "GRAPEVINE_NODES=8 GRAPEVINE_TOPOLOGY=torus GRAPEVINE_LOG_EVERY=10 PROGRAM");
  config.set_eval_every(20);
  EXPECT_EQ(RepeatCommand(config),
            "GRAPEVINE_NODES=8 GRAPEVINE_TOPOLOGY=torus GRAPEVINE_EVAL_EVERY=20 "
            "GRAPEVINE_LOG_EVERY=10 PROGRAM");
  config.clear_eval_every();
  config.set_rounds(100);
  config.set_data("npz:/a folder/x.npz");
  EXPECT_EQ(RepeatCommand(config),
            "GRAPEVINE_NODES=8 GRAPEVINE_TOPOLOGY=torus GRAPEVINE_DATA='npz:/a folder/x.npz' "
            "GRAPEVINE_ROUNDS=100 GRAPEVINE_LOG_EVERY=10 PROGRAM");
}

// A list would be a sweep.
TEST(RepeatCommand, IsOneRun) {
  Config config;
  config.set_data("mnist:/a,b");
  EXPECT_EQ(RepeatCommand(config), "grapevine train '--data=mnist:/a\\,b'");
}

TEST(RepeatCommand, QuotesWhatAShellWouldRead) {
  Config config;
  config.set_data("mnist:/a folder/$(id)/it's");
  EXPECT_EQ(RepeatCommand(config), "grapevine train '--data=mnist:/a folder/$(id)/it'\\''s'");
}

}  // namespace
}  // namespace grapevine
