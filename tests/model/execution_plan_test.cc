// Memory is planned: what must be kept is kept once, and the rest is shared.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "kernels/passes/instruction_set.h"
#include "kernels/tensor/cpu/cpu_tensor_device.h"
#include "model/network/graph_network.h"
#include "model/network/network_graph.h"
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

constexpr int64_t kBatch = 32;
// One activation of the first stage, 16 channels of 32 x 32; 1 MiB and 512 KiB
// in the second and the third.
constexpr int64_t kActivation = kBatch * 16 * 32 * 32 * 4;

NetworkGraph ResNet20() {
  const auto spec = ParseSpec("resnet20");
  SpecReader options(*spec);
  NetworkBuilder builder("resnet20", {32, 32, 3});
  const auto graph = builder.Build(Networks().Find("resnet20")->describe(options, 10, builder));
  EXPECT_TRUE(graph.ok()) << graph.status();
  return Fuse(*graph);
}

// How often an activation is kept: once more, in the blocks of 16 channels in which a batch norm
// works, where oneDNN's convolutions have blocks of 8.
int64_t Copies() { return BestInstructionSet() == InstructionSet::kAvx512 ? 1 : 2; }

int64_t ArenaBytes(Pass pass) {
  const NetworkGraph graph = ResNet20();
  CpuTensorDevice device;
  auto plan = ExecutionPlan::Make(graph, device, kBatch, pass);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return (*plan)->arena_bytes();
}

TEST(ExecutionPlanTest, TrainingKeepsEachActivationOnce) {
  // Each convolution and each normalization writes one: 14 in the first stage,
  // 12 and 12 in the others, which are a half and a quarter of the size.
  constexpr int64_t kKept = 14 * kActivation + 12 * kActivation / 2 + 12 * kActivation / 4;
  const int64_t bytes = ArenaBytes(Pass::kGradient);
  EXPECT_GT(bytes, kKept);
  // Gradients and scratch of the largest step, and the images.
  EXPECT_LT(bytes, Copies() * kKept + 4 * kActivation);
}

TEST(ExecutionPlanTest, StatisticsKeepWhatABlockNeeds) {
  const int64_t bytes = ArenaBytes(Pass::kStatistics);
  EXPECT_GE(bytes, 3 * kActivation);
  EXPECT_LT(bytes, (3 + 2 * Copies()) * kActivation);
}

TEST(ExecutionPlanTest, InferenceKeepsWhatABlockNeeds) {
  const int64_t bytes = ArenaBytes(Pass::kInference);
  EXPECT_GE(bytes, 3 * kActivation);  // the shortcut, an input and an output
  EXPECT_LT(bytes, (2 + 2 * Copies()) * kActivation);
}

// A device without memory.
class FullDevice : public CpuTensorDevice {
 public:
  absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t, std::string_view what) override {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", std::string(what)));
  }
};

TEST(ExecutionPlanTest, SaysWhatThereIsNoMemoryFor) {
  FullDevice device;
  const auto plan = ExecutionPlan::Make(ResNet20(), device, kBatch, Pass::kGradient);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(plan.status().message(),
            "no memory for activations for gradients of 32 samples of resnet20");
}

}  // namespace
}  // namespace grapevine
