// AD-PSGD over gRPC, as processes, and simulated: what it does to models, and what a run says of
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "model/files/safetensors.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/run_gradients.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kAdpsgdRounds = 20;
constexpr int64_t kDim = 5;
constexpr int64_t kReplica = kDim * int64_t{sizeof(float)};

std::vector<std::string> AdpsgdCall(const std::string& command, int nodes, const std::string& out,
                                    const std::vector<std::string>& flags) {
  std::vector<std::string> call = {command, "-n", std::to_string(nodes), "--algorithm=adpsgd",
                                   "--out=" + out};
  call.insert(call.end(), flags.begin(), flags.end());
  return call;
}

std::vector<float> Model(const std::string& file) {
  ReplicaLayout layout;
  layout.AddParameter("x", {kDim});
  std::vector<float> model(kDim);
  const auto tensors = Safetensors::Open(file);
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  if (tensors.ok()) {
    EXPECT_TRUE(tensors->Load(layout, model.data()).ok());
  }
  return model;
}

// Of all nodes, as the run left them.
std::vector<double> MeanModel(const std::string& run, int nodes) {
  std::vector<double> mean(kDim);
  for (int rank = 0; rank < nodes; ++rank) {
    const auto model = Model(run + "/node-" + std::to_string(rank) + "/model.safetensors");
    for (int64_t e = 0; e < kDim; ++e) mean[e] += model[e] / nodes;
  }
  return mean;
}

// Every gradient is followed by an average, of a share and an answer. Two that ask each other at
// the same time make do with one.
void ExpectBytes(const std::string& run, int nodes, int64_t gradients) {
  const int64_t bytes = SummaryOf(run)["bytes_sent_total"];
  EXPECT_EQ(bytes % (2 * kReplica), 0);
  EXPECT_LE(bytes, nodes == 1 ? 0 : 2 * gradients * kReplica);
  EXPECT_GE(bytes, nodes == 1 ? 0 : gradients * kReplica);
}

// Each average moves two replicas, and each move is counted at one gradient at most.
void ExpectStalenessAsTheNodesSay(const std::string& run, int nodes, int64_t gradients) {
  double sum = 0;
  int64_t greatest = 0;
  for (int rank = 0; rank < nodes; ++rank) {
    const auto line = NodeLines(run, rank).back();
    if (line["gradients_total"] == 0) continue;
    sum += line["staleness_mean"].get<double>() * line["gradients_total"].get<double>();
    greatest = std::max(greatest, line["staleness_max"].get<int64_t>());
  }
  const nlohmann::json summary = SummaryOf(run);
  EXPECT_NEAR(summary["staleness_mean"], sum / static_cast<double>(gradients), 1e-9);
  EXPECT_EQ(summary["staleness_max"], greatest);
  EXPECT_LE(sum, 2.0 * static_cast<double>(gradients) + 1e-6);
  if (nodes == 1) {
    EXPECT_EQ(greatest, 0);
  }
}

TEST(AdpsgdRun, AnyNumberOfNodesUsesUpTheBudgetAndLeavesTheMeanOfItsModels) {
  for (const char* command : {"train", "sim"}) {
    for (const int nodes : {1, 2, 3, 5, 8}) {
      SCOPED_TRACE(::testing::Message() << command << " of " << nodes);
      const ScratchFolder folder;
      const std::string run = folder.File("run");
      const Ended ended =
          RunGrapevine(AdpsgdCall(command, nodes, run,
                                  {"--model=quadratic:spread=1:dim=" + std::to_string(kDim),
                                   "--compute=1ms", "--rounds=" + std::to_string(kAdpsgdRounds)}));
      ASSERT_EQ(ended.exit_code, 0) << ended.output;
      const int64_t gradients = int64_t{kAdpsgdRounds} * nodes;
      EXPECT_EQ(SumOf(GradientsOf(run, nodes)), gradients);
      ExpectBytes(run, nodes, gradients);
      EXPECT_DOUBLE_EQ(SummaryOf(run)["gradients"]["mean"], kAdpsgdRounds);
      ExpectStalenessAsTheNodesSay(run, nodes, gradients);
      const std::vector<double> mean = MeanModel(run, nodes);
      const std::vector<float> kept = Model(run + "/model.safetensors");
      for (int64_t e = 0; e < kDim; ++e) EXPECT_NEAR(kept[e], mean[e], 1e-6) << e;
    }
  }
}

// Two nodes in step, which ask each other at the same time: an average moves the replica while each
// gradient is computed but the first one.
TEST(AdpsgdRun, StalenessIsWhatAPencilSays) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const Ended ended = RunGrapevine(
      AdpsgdCall("sim", 2, run, {"--model=quadratic:dim=5", "--compute=10ms", "--rounds=20"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  for (const int rank : {0, 1}) {
    const auto line = NodeLines(run, rank).back();
    EXPECT_EQ(line["gradients_total"], 20);
    EXPECT_EQ(line["staleness"], (std::vector<int64_t>{1, 19}));
    EXPECT_DOUBLE_EQ(line["staleness_mean"], 19 / 20.0);
  }
  EXPECT_DOUBLE_EQ(SummaryOf(run)["staleness_mean"], 19 / 20.0);
  EXPECT_EQ(SummaryOf(run)["staleness_max"], 1);
  EXPECT_EQ(SummaryOf(run)["bytes_sent_total"], 20 * 2 * kReplica);
  EXPECT_EQ(SummaryOf(run)["gradients"],
            (nlohmann::json{{"min", 20.0}, {"mean", 20.0}, {"max", 20.0}}));
}

TEST(AdpsgdRun, ASlowNodeComputesLess) {
  for (const char* command : {"train", "sim"}) {
    SCOPED_TRACE(command);
    const ScratchFolder folder;
    const std::string run = folder.File("run");
    const Ended ended = RunGrapevine(AdpsgdCall(
        command, 4, run, {"--model=quadratic", "--compute=20ms", "--slow=2:5", "--rounds=60"}));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    const std::vector<int64_t> gradients = GradientsOf(run, 4);
    EXPECT_EQ(SumOf(gradients), 240);
    for (const int rank : {0, 1, 3}) EXPECT_LT(2 * gradients[2], gradients[rank]) << rank;
  }
}

// On data that tell ten classes apart, as well as D-PSGD with the same samples.
TEST(AdpsgdRun, LearnsWhatDpsgdLearns) {
  const auto accuracy = [](const char* command, const std::string& algorithm) {
    const ScratchFolder folder;
    const Ended ended = RunGrapevine({command, "-n", "4", "--algorithm=" + algorithm,
                                      "--model=softmax", "--data=synthetic:train=2048:test=1000",
                                      "--batch=16", "--epochs=5", "--out=" + folder.File("run")});
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    return SummaryOf(folder.File("run")).value("test_accuracy", 0.0);
  };
  const double synchronous = accuracy("sim", "dpsgd");
  EXPECT_GT(synchronous, 0.6) << "there is something to be learnt";
  EXPECT_GT(accuracy("sim", "adpsgd"), synchronous - 0.03);
  EXPECT_GT(accuracy("sim", "adpsgd:every=4"), synchronous - 0.03);
  EXPECT_GT(accuracy("train", "adpsgd"), synchronous - 0.1) << "however unequal the nodes' speeds";
}

std::vector<std::string> LongAdpsgdRun(const std::string& out) {
  return AdpsgdCall("train", 3, out,
                    {"--model=phantom:1MB", "--compute=5ms", "--rounds=100000", "--peer-timeout=2s",
                     "--on-failure=end"});
}

TEST(AdpsgdRun, AnInterruptEndsAllNodes) {
  const ScratchFolder folder;
  GrapevineProcess run(LongAdpsgdRun(folder.File("run")));
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  run.Signal(SIGINT);
  EXPECT_EQ(run.Await(), 128 + SIGINT) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
}

TEST(AdpsgdRun, AKilledNodeEndsTheRunByName) {
  const ScratchFolder folder;
  GrapevineProcess run(LongAdpsgdRun(folder.File("run")));
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  ASSERT_NE(run.Node(1), 0);
  ASSERT_EQ(kill(run.Node(1), SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(), HasSubstr("rank 1"));
}

}  // namespace
}  // namespace grapevine::testing
