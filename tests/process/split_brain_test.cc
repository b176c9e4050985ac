// Rank 0 and the others, apart: schedules of tools/split_brain, which say what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

// Nine in a row have every fault once.
constexpr int kFirstSeed = 37, kSeeds = 9;
// The exit code of a machine without namespaces or etcd; bad flags have it, too.
constexpr int kCannotPlay = 2;

class SplitBrain : public ::testing::TestWithParam<int> {};

TEST_P(SplitBrain, EndsInOneRun) {
  const ScratchFolder folder;
  GrapevineProcess schedule({std::to_string(GetParam()),
                             "--grapevine=" + std::filesystem::canonical("grapevine").string()},
                            {.program = "tools/split_brain/split_brain.py",
                             .environment = {{"TMPDIR", folder.path()}},
                             .patience = 4 * kPatience});
  const int exit_code = schedule.Await();
  const std::string output = schedule.output();
  if (exit_code == kCannotPlay && output.find("cannot be played here") != std::string::npos) {
    GTEST_SKIP() << output;
  }
  EXPECT_EQ(exit_code, 0) << output;
  EXPECT_THAT(output, HasSubstr("1 schedules, 0 wrong"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitBrain, ::testing::Range(kFirstSeed, kFirstSeed + kSeeds));
// Rank 0 is stopped once the last model is evaluated, on a disk of its own.
INSTANTIATE_TEST_SUITE_P(OwnDisks, SplitBrain, ::testing::Values(50));

}  // namespace
}  // namespace grapevine::testing
