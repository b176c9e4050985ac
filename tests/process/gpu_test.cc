// Runs with --device=cuda: on a GPU where there is one, and what is said where not.
#include "kernels/device/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/emulated_cuda/gpu_name.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kDevice = 8;

TEST(Gpu, WithoutOneTheRunEndsAtOnceAndSaysWhy) {
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

TEST(Gpu, ANodeOfAClusterSaysItToo) {
  if (FindGpus().ok()) GTEST_SKIP() << "there is a GPU";
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine({"node", "--rank=0", "--world-size=1", "--insecure", "--device=cuda",
                    "--rounds=5", "--model=softmax", "--out", folder.File("run")});
  EXPECT_EQ(ended.exit_code, kDevice) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("no usable GPU"));
}

// The program, with an emulated GPU if this test has one.
GrapevineProcess::Options Program(const std::vector<GpuInfo>& gpus) {
  if (gpus.front().name != emulated_cuda::kGpuName) return {};
  return {.program = "tests/process/grapevine_on_emulated_gpu"};
}

// Four nodes on one GPU: as the same run on the CPU, but for the order of sums.
TEST(Gpu, TrainsAsTheCpuDoes) {
  const auto gpus = FindGpus();
  if (!gpus.ok()) GTEST_SKIP() << gpus.status().message();
  const ScratchFolder folder;
  for (const char* model : {"softmax", "lenet5"}) {
    double loss[2];
    for (const char* device : {"cpu", "cuda:auto"}) {
      const std::string out = folder.File(std::string(model) + "-" + device);
      const Ended ended = RunGrapevine(
          {"train", "-n", "4", "--data=synthetic:train=2000:test=500", "--epochs=3",
           std::string("--model=") + model, std::string("--device=") + device, "--out", out},
          Program(*gpus));
      ASSERT_EQ(ended.exit_code, 0) << ended.output;
      const auto summary = nlohmann::json::parse(std::ifstream(out + "/summary.json"));
      loss[std::string(device) != "cpu"] = summary["test_loss"];
    }
    EXPECT_NEAR(loss[1] / loss[0], 1, 0.05) << model;
  }
}

}  // namespace
}  // namespace grapevine::testing
