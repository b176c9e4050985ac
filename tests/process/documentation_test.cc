// How pages are read, and what counts as the output that they show.
#include "tests/process/documentation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"

namespace grapevine::testing {
namespace {

TEST(Steps, AreThoseOfAPageWithTheOutputThatItShows) {
  const ScratchFolder folder;
  const std::vector<Step> steps =
      Steps(folder.Write("page.md",
                         "# Page\n\n```sh\none \\\n  more\n```\n\n"
                         "prints\n\n```text\n1\n```\n\n```cpp\nno\n```\n"
                         "```sh\ntwo\n```\n"));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].line, 3);
  EXPECT_EQ(steps[0].commands, "one \\\n  more\n");
  EXPECT_EQ(steps[0].shown, "1\n");
  EXPECT_EQ(steps[1].line, 17);
  EXPECT_EQ(steps[1].commands, "two\n");
  EXPECT_EQ(steps[1].shown, "");
}

constexpr char kOutput[] =
    "4 nodes, ring\n"
    "round 8/313  loss 2.3339   2030 samples/s  252 ms\n"
    "finished after 313 rounds (2.003 epochs), 1.15 s, 78.6 MB sent\n"
    "accuracy: 78.80 %\n";

TEST(FirstMissing, LinesComeInTheirOrderWithOthersBetween) {
  EXPECT_EQ(FirstMissing("4 nodes, ring\naccuracy: 78.80 %\n", kOutput), "");
  EXPECT_EQ(FirstMissing("accuracy: 78.80 %\n4 nodes, ring\n", kOutput), "4 nodes, ring");
  EXPECT_EQ(FirstMissing("accuracy: 78.80 %\naccuracy: 78.80 %\n", kOutput), "accuracy: 78.80 %");
  EXPECT_EQ(FirstMissing("5 cows\n", kOutput), "5 cows");
  EXPECT_EQ(FirstMissing("4 nodes\n", kOutput), "4 nodes");
}

TEST(FirstMissing, NumbersAreAlikeWithinAFifthAndTimesAlways) {
  EXPECT_EQ(FirstMissing("accuracy: 75 %\n", kOutput), "");
  EXPECT_EQ(FirstMissing("accuracy: 60 %\n", kOutput), "accuracy: 60 %");
  EXPECT_EQ(FirstMissing("round 8/313  loss 2.2  9 samples/s  3.1 s\n", kOutput), "");
  EXPECT_EQ(FirstMissing("round 8/313  loss 1.2  9 samples/s  3.1 s\n", kOutput),
            "round 8/313  loss 1.2  9 samples/s  3.1 s");
  EXPECT_EQ(FirstMissing("runs/v2\n", "runs/v2.1\n"), "runs/v2");
  EXPECT_EQ(FirstMissing("node2\n", "node1\n"), "node2");
}

TEST(FirstMissing, AnEllipsisIsAnyText) {
  EXPECT_EQ(FirstMissing("…\nfinished …, 78.6 MB sent\n", kOutput), "");
  EXPECT_EQ(FirstMissing("finished …, 7 MB sent\n", kOutput), "finished …, 7 MB sent");
  EXPECT_EQ(FirstMissing("…nodes…\n", kOutput), "");
}

TEST(FirstMissing, BlanksAreOneAndNoneAtTheEnds) {
  EXPECT_EQ(FirstMissing("  4   nodes, ring \n\n", kOutput), "");
}

}  // namespace
}  // namespace grapevine::testing
