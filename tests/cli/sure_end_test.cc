#include "cli/terminal/sure_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/status.h"

namespace grapevine {
namespace {

// As a thread that is joined while its write(2) does not return.
void WaitForEver() {
  while (true) pause();
}

TEST(SureEndDeathTest, EndsAProcessThatWaitsForEver) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const SureEnd end("grapevine node", OutputError("DISK: has taken nothing for 9 s"),
                          std::chrono::milliseconds(10));
        WaitForEver();
      },
      ::testing::ExitedWithCode(static_cast<int>(Failure::kOutput)),
      "grapevine node: DISK: has taken nothing for 9 s");
}

TEST(SureEnd, LeavesAProcessAloneThatEndsByItself) {
  const SureEnd end("grapevine node", OutputError("DISK"), std::chrono::hours(1));
}

}  // namespace
}  // namespace grapevine
