// What each algorithm does, told line by line: golden/NAME.txt begins with the
// scenario's settings, and goes on with every request and event of a run.
//
// After a wanted change: bazel run //tests/algorithm:golden_test -- --write
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

bool write_golden = false;

struct Scenario {
  std::string name;
  std::string algorithm;
  std::string topology;
  Rank nodes;
  Round rounds;
};

std::string Path(const Scenario& scenario) {
  std::string path = "tests/algorithm/golden/" + scenario.name + ".txt";
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");  // set by bazel run
  return workspace == nullptr ? path : std::string(workspace) + "/" + path;
}

std::string Tell(const Scenario& scenario) {
  std::ostringstream story;
  story << "# " << scenario.algorithm << " on " << scenario.topology << " of " << scenario.nodes
        << ", " << scenario.rounds << " rounds\n";
  Cluster cluster({.algorithm = scenario.algorithm,
                   .topology = scenario.topology,
                   .nodes = scenario.nodes,
                   .parameters = 6,
                   .gradient = Quadratic(1, 0, 1),
                   .transcript = [&](const std::string& line) { story << line << "\n"; }});
  EXPECT_TRUE(cluster.Run(scenario.rounds).ok());
  return story.str();
}

class Golden : public ::testing::TestWithParam<Scenario> {};

TEST_P(Golden, TellsTheSameStory) {
  const std::string story = Tell(GetParam());
  if (write_golden) {
    std::ofstream(Path(GetParam())) << story;
    return;
  }
  std::ifstream in(Path(GetParam()));
  ASSERT_TRUE(in.good()) << Path(GetParam()) << " is missing";
  std::ostringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(story, golden.str());
}

INSTANTIATE_TEST_SUITE_P(
    All, Golden,
    ::testing::Values(
        Scenario{"dpsgd_awc_ring_3", "dpsgd", "ring", 3, 2},
        Scenario{"dpsgd_atc_ring_3", "dpsgd:order=atc", "ring", 3, 2},
        Scenario{"dpsgd_one_peer_exponential_4", "dpsgd", "one-peer-exponential", 4, 2},
        Scenario{"allreduce_ring_3", "allreduce", "ring", 3, 2},
        Scenario{"allreduce_ring_3_buckets_2", "allreduce:buckets=2", "ring", 3, 1},
        Scenario{"allreduce_halving_doubling_3", "allreduce:halving-doubling", "ring", 3, 1},
        Scenario{"allreduce_halving_doubling_4", "allreduce:halving-doubling", "ring", 4, 1},
        Scenario{"allreduce_tree_4", "allreduce:tree", "ring", 4, 1},
        Scenario{"allreduce_hierarchical_4", "allreduce:hierarchical:groups=2", "ring", 4, 1},
        Scenario{"allreduce_torus_4", "allreduce:torus:2x2", "ring", 4, 1},
        Scenario{"ps_2_workers_2_servers", "ps:servers=2", "ring", 4, 2}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace grapevine::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  grapevine::testing::write_golden = argc > 1 && std::string(argv[1]) == "--write";
  return RUN_ALL_TESTS();
}
