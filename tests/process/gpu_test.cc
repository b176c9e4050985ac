// Runs with --device=cuda, on a GPU that is there or emulated.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "tests/emulated_cuda/gpu_name.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

// The program, with an emulated GPU if this test has one.
GrapevineProcess::Options Program(const std::vector<GpuInfo>& gpus) {
  if (gpus.front().name != emulated_cuda::kGpuName) return {};
  return {.program = "tests/process/grapevine_on_emulated_gpu"};
}

// Four nodes on one GPU: as the same run on the CPU, but for the order of sums.
TEST(Gpu, TrainsAsTheCpuDoes) {
  const auto gpus = FindGpus();
  if (!gpus.ok()) GTEST_SKIP() << "a GPU is missing: " << gpus.status().message();
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
      const auto summary = SummaryOf(out);
      loss[std::string(device) != "cpu"] = summary["test_loss"];
    }
    EXPECT_NEAR(loss[1] / loss[0], 1, 0.05) << model;
  }
}

}  // namespace
}  // namespace grapevine::testing
