// Runs that ask for a GPU where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kernels/device/device.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(WithoutGpu, TheRunEndsAtOnceAndSaysWhy) {
  if (FindGpus().ok()) GTEST_SKIP() << "there is a GPU";
  const ScratchFolder folder;
  for (const char* device : {"cuda", "cuda:3", "cuda:auto"}) {
    const std::string out = folder.File("run");
    const Ended ended = RunGrapevine(
        {"train", "-n", "2", std::string("--device=") + device, "--rounds=5", "--out", out});
    EXPECT_EQ(ended.exit_code, kDevice) << ended.output;
    EXPECT_THAT(ended.output, ContainsRegex(std::string("--device=") + device +
                                            ": no usable GPU: (there is no NVIDIA driver|"
                                            "this build has no CUDA)"));
    EXPECT_FALSE(std::ifstream(out + "/config.textproto").good()) << "before anything was written";
  }
}

TEST(WithoutGpu, ANodeOfAClusterSaysItToo) {
  if (FindGpus().ok()) GTEST_SKIP() << "there is a GPU";
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine({"node", "--rank=0", "--world-size=1", "--insecure", "--device=cuda",
                    "--rounds=5", "--model=softmax", "--out", folder.File("run")});
  EXPECT_EQ(ended.exit_code, kDevice) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("no usable GPU"));
}

}  // namespace
}  // namespace grapevine::testing
