// Runs with --device=cuda: on a GPU where there is one, and what is said where not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device.h"
#include "tests/emulated_cuda/gpu_name.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

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
      const auto summary = SummaryOf(out);
      loss[std::string(device) != "cpu"] = summary["test_loss"];
    }
    EXPECT_NEAR(loss[1] / loss[0], 1, 0.05) << model;
  }
}

// Three nodes of a ring, each a process with an emulated GPU of its own: a real one does
// not fail when it is asked to.
class FailingGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto gpus = FindGpus();
    if (!gpus.ok() || gpus->front().name != emulated_cuda::kGpuName) {
      GTEST_SKIP() << "needs an emulated GPU";
    }
    options_ = Program(*gpus);
  }

  // `fault` is in the environment of rank 1 alone.
  void Start(const std::map<std::string, std::string>& fault,
             const std::vector<std::string>& flags = {}) {
    const std::string port = std::to_string(FreePort());
    for (int rank = 0; rank < 3; ++rank) {
      GrapevineProcess::Options options = options_;
      if (rank == 1) options.environment = fault;
      std::vector<std::string> arguments = {"node",
                                            "--rank=" + std::to_string(rank),
                                            "--world-size=3",
                                            "--on-failure=end",
                                            "--master-addr=127.0.0.1",
                                            "--master-port=" + port,
                                            "--out=" + folder_.File("run"),
                                            "--device=cuda",
                                            "--model=mlp",
                                            "--data=synthetic:train=600:test=100",
                                            "--rounds=100000",
                                            "--eval-every=100000",
                                            "--peer-timeout=10s"};
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      nodes_.push_back(std::make_unique<GrapevineProcess>(std::move(arguments), options));
    }
  }
  // Ends with this code and these words.
  void ExpectEnd(int rank, int exit_code, const std::string& words) {
    EXPECT_EQ(nodes_[rank]->Await(), exit_code) << nodes_[rank]->output();
    EXPECT_THAT(nodes_[rank]->output(), ContainsRegex(words));
  }

 private:
  GrapevineProcess::Options options_;
  const ScratchFolder folder_;
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;
};

TEST_F(FailingGpu, ANodeWithoutMemorySaysForWhatAndTheOthersHearOfIt) {
  // For the model that is evaluated and some vectors.
  Start({{"EMULATED_GPU_BYTES", "3000000"}});
  for (int rank : {1, 0, 2}) {
    ExpectEnd(rank, kDevice,
              "rank 1, round 0: no memory for .* \\(a vector of [0-9]+ elements\\) on cuda:0 "
              "\\(Emulated GPU\\)");
  }
}

TEST_F(FailingGpu, ANodeWithoutMemoryForItsModelDoesNotBegin) {
  Start({{"EMULATED_GPU_BYTES", "1000000"}}, {"--rendezvous-timeout=3s"});
  ExpectEnd(1, kDevice,
            "rank 1, before the first round: no memory for a model that is evaluated on cuda:0");
  ExpectEnd(0, kRendezvous, "rank 1 is missing");
  ExpectEnd(2, kRendezvous, "rank 1 is missing");
}

TEST_F(FailingGpu, ANodeWhoseGpuIsLostSaysWhenAndTheOthersHearOfIt) {
  Start({{"EMULATED_GPU_PIECES", "2000"}});
  for (int rank : {1, 0, 2}) {
    ExpectEnd(rank, kDevice, "rank 1, round [0-9]+: .*cudaErrorECCUncorrectable");
  }
}

TEST_F(FailingGpu, ALossThatIsNotANumberNamesTheTensor) {
  Start({}, {"--lr=1e30"});
  for (int rank : {0, 1, 2}) {
    ExpectEnd(rank, kDiverged, "the loss became (nan|inf) in round [0-9]+, and [a-z0-9.]+ of");
  }
}

}  // namespace
}  // namespace grapevine::testing
