// Training to accuracy: what docs/convergence.md promises, in minutes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

double AccuracyOf(std::vector<std::string> flags) {
  const ScratchFolder folder;
  flags.insert(flags.begin(), {"train", "--out", folder.File("run")});
  const Ended ended = RunGrapevine(flags, {.patience = std::chrono::minutes(10)});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  if (ended.exit_code != 0) return 0;
  const auto summary = SummaryOf(folder.File("run"));
  return summary["test_accuracy"];
}

class MnistAccuracy : public ::testing::TestWithParam<const char*> {};

TEST_P(MnistAccuracy, EightNodesReachItWithDefaultSettings) {
  const char* data = std::getenv("TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "TEST_DATA names no folder with mnist/";
  EXPECT_GE(AccuracyOf({"-n", "8", "--topology", GetParam(), "--model=lenet5", "--epochs=3",
                        std::string("--data=mnist:") + data + "/mnist"}),
            0.985);
}

INSTANTIATE_TEST_SUITE_P(Graphs, MnistAccuracy,
                         ::testing::Values("ring", "torus", "random:d=3", "exponential",
                                           "one-peer-exponential", "complete"));

TEST(SyntheticAccuracy, AnEvenSplitIsLearntOnARing) {
  EXPECT_GE(AccuracyOf({"-n", "4", "--topology=ring", "--epochs=5"}), 0.95);
}

// The settings of tools/demo.
TEST(SyntheticAccuracy, DataSortedByLabelTellTheRingFromTheCompleteGraph) {
  const auto accuracy = [](const char* topology) {
    return AccuracyOf({"-n", "16", "--topology", topology, "--split=label", "--epochs=12",
                       "--batch=16", "--lr=0.1", "--momentum=0", "--schedule=step:at=75%"});
  };
  const double ring = accuracy("ring"), complete = accuracy("complete");
  EXPECT_GE(complete, 0.97);
  EXPECT_LE(ring, complete - 0.05);
}

}  // namespace
}  // namespace grapevine::testing
