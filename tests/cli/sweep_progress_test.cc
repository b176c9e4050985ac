#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/terminal/progress.h"
#include "experiment/sweep/sweep_run.h"

namespace grapevine {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SweepProgress, WhatIsLeftIsJudgedByItsCost) {
  std::ostringstream out;
  SweepProgress progress({.cells = 20, .cost = 10 * 1 + 10 * 15, .threads = 2}, out);
  for (int cell = 0; cell < 10; ++cell) progress.OnDone(1, 1, /*seconds=*/1);
  EXPECT_THAT(out.str(), EndsWith("ETA 1 min 15 s\n")) << "150 s on two threads";
  progress.OnDone(5, 75, 75);  // a simulation that five cells share
  EXPECT_THAT(out.str(), EndsWith("ETA 37.5 s\n"));
  progress.OnDone(5, 75, 75);
  EXPECT_THAT(out.str(), ContainsRegex("20/20 cells  [^ ]+ [a-z]+\n$")) << "nothing is left";
}

TEST(SweepProgress, WhatWasDoneBeforeSaysNothingOfItsSpeed) {
  std::ostringstream out;
  SweepProgress progress({.cells = 4, .cost = 4}, out);
  progress.OnDone(2, 2, /*seconds=*/0);
  EXPECT_THAT(out.str(), Not(HasSubstr("ETA"))) << "nobody knows";
  progress.OnDone(1, 1, 60);
  EXPECT_THAT(out.str(), EndsWith("ETA 1 min 00 s\n"));
}

Config Cell(const std::string& algorithm, const std::string& topology, int nodes) {
  Config config;
  config.set_model("phantom:1MB");
  config.set_algorithm(algorithm);
  config.set_topology(topology);
  config.set_nodes(nodes);
  config.set_rounds(100);
  return config;
}

TEST(CellCost, IsThatOfMessagesAndGradients) {
  const double ring = CellCost(Cell("dpsgd:order=awc", "ring", 16));
  EXPECT_NEAR(ring, 100 * (32 + 16), 1);
  EXPECT_NEAR(CellCost(Cell("allreduce:ring", "ring", 16)), 100 * (16 * 30 + 16), 1);
  EXPECT_NEAR(CellCost(Cell("dpsgd:order=awc", "hypercube", 6)), 0, 1) << "does not exist";
  Config twice = Cell("dpsgd:order=awc", "ring", 16);
  twice.set_rounds(200);
  EXPECT_NEAR(CellCost(twice) / ring, 2, 0.01);
}

}  // namespace
}  // namespace grapevine
