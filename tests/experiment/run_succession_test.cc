// What a node finds of a run whose rank 0 is gone.
#include "experiment/real/run_succession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A node that took the role over then said "finished after 0 rounds", and ended with 0.
TEST(RunSuccession, ResultsOnTheDiskOfTheLostAreNone) {
  const ScratchFolder folder;
  const absl::Status elsewhere = CheckResultsAreHere(folder.path(), 0, 2000);
  EXPECT_EQ(FailureOf(elsewhere), Failure::kPeerLost);
  EXPECT_THAT(std::string(elsewhere.message()),
              AllOf(HasSubstr("round 2000"), HasSubstr(folder.path()), HasSubstr("--out")));
}

TEST(RunSuccession, ResultsAreHereWhereTheLastModelWasEvaluatedHereOrOnTheSameDisk) {
  const ScratchFolder folder;
  EXPECT_EQ(CheckResultsAreHere(folder.path(), 2000, 2000), absl::OkStatus());
  folder.Write("model.safetensors", "of the run");
  EXPECT_EQ(CheckResultsAreHere(folder.path(), 1990, 2000), absl::OkStatus());
}

}  // namespace
}  // namespace grapevine
