// Runs whose nodes do not go through rounds together, with the smallest such algorithm
// (tests/testing/solo): they share a budget of gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/run_gradients.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kSoloNodes = 3;
constexpr int kSoloRounds = 60;
const GrapevineProcess::Options kWithSolo = {.program = "tests/process/grapevine_with_solo"};

std::vector<std::string> SoloCall(const char* command, std::vector<std::string> flags,
                                  const std::string& out) {
  std::vector<std::string> call = {command, "-n", std::to_string(kSoloNodes), "--algorithm=solo",
                                   "--out=" + out};
  call.insert(call.end(), flags.begin(), flags.end());
  return call;
}

void ExpectWhatTheSummarySays(const std::string& run, int64_t gradients) {
  const auto summary = SummaryOf(run);
  EXPECT_DOUBLE_EQ(summary["gradients"]["mean"], static_cast<double>(gradients) / kSoloNodes);
  EXPECT_GE(summary["idle_s"]["min"], 0);
  const auto lines = JsonLines(run + "/metrics.jsonl");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back()["round"], summary["rounds"]);
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_GT(lines[i]["round"], lines[i - 1]["round"]);
}

TEST(SharedBudget, FastNodesDoMoreAndTheTotalIsExact) {
  const ScratchFolder folder;
  for (const char* command : {"train", "sim"}) {
    SCOPED_TRACE(command);
    const std::string run = folder.File(command);
    const Ended ended =
        RunGrapevine(SoloCall(command,
                              {"--model=quadratic:dim=4", "--compute=20ms", "--slow=2:5",
                               "--rounds=" + std::to_string(kSoloRounds), "--log-every=1"},
                              run),
                     kWithSolo);
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    const std::vector<int64_t> gradients = GradientsOf(run, kSoloNodes);
    EXPECT_EQ(SumOf(gradients), kSoloRounds * kSoloNodes);
    EXPECT_LT(2 * gradients[2], gradients[0]);
    EXPECT_LT(2 * gradients[2], gradients[1]);
    EXPECT_EQ(JsonLines(run + "/metrics.jsonl").size(), static_cast<size_t>(kSoloRounds));
    ExpectWhatTheSummarySays(run, kSoloRounds * kSoloNodes);
  }
}

// Every other gradient of this algorithm is 3 updates old, as it says.
TEST(SharedBudget, NodesAndSummaryTellHowStaleGradientsWere) {
  const ScratchFolder folder;
  for (const char* command : {"train", "sim"}) {
    SCOPED_TRACE(command);
    const std::string run = folder.File(command);
    const Ended ended = RunGrapevine(
        SoloCall(command, {"--model=quadratic:dim=4", "--compute=5ms", "--rounds=20"}, run),
        kWithSolo);
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    int64_t all_stale = 0;
    for (int rank = 0; rank < kSoloNodes; ++rank) {
      const auto line = NodeLines(run, rank).back();
      const int64_t gradients = line["gradients_total"];
      const int64_t stale = gradients / 2;
      all_stale += stale;
      ASSERT_GE(gradients, 1);
      const std::vector<int64_t> histogram = {gradients - stale, 0, stale};
      EXPECT_EQ(line["staleness"], stale > 0 ? histogram : std::vector<int64_t>{gradients});
      EXPECT_EQ(line["staleness_max"], stale > 0 ? 3 : 0);
      EXPECT_DOUBLE_EQ(line["staleness_mean"],
                       3.0 * static_cast<double>(stale) / static_cast<double>(gradients));
      EXPECT_GE(line["idle_s"], 0);
    }
    const auto summary = SummaryOf(run);
    EXPECT_EQ(summary["staleness_max"], 3);
    EXPECT_DOUBLE_EQ(summary["staleness_mean"],
                     3.0 * static_cast<double>(all_stale) / (20 * kSoloNodes));
  }
}

// --epochs counts the samples of all nodes together.
TEST(SharedBudget, EpochsAreThoseOfAllNodesTogether) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const Ended ended = RunGrapevine(
      SoloCall("train",
               {"--model=softmax", "--data=synthetic:train=960:test=64", "--batch=8", "--epochs=2"},
               run),
      kWithSolo);
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(SumOf(GradientsOf(run, kSoloNodes)) * 8, 2 * 960);
  ExpectWhatTheSummarySays(run, 2 * 960 / 8);
}

// Those of this algorithm never change theirs.
TEST(SharedBudget, ServersWeightsCountWhereTheAlgorithmSaysSo) {
  const ScratchFolder folder;
  std::vector<std::string> models;
  for (const char* command : {"train", "sim"}) {
    SCOPED_TRACE(command);
    const std::string run = folder.File(command);
    std::vector<std::string> call =
        SoloCall(command, {"--model=quadratic:dim=5:start=2", "--compute=1ms", "--rounds=20"}, run);
    call[3] = "--algorithm=solo:servers=2";
    const Ended ended = RunGrapevine(call, kWithSolo);
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    const auto summary = SummaryOf(run);
    EXPECT_EQ(summary["evaluated"], "servers' weights");
    EXPECT_EQ(summary["workers"], 1);
    EXPECT_DOUBLE_EQ(summary["test_loss"], 0.5 * 5 * 2 * 2) << "of the starting weights";
    EXPECT_EQ(summary["evaluation_bytes_sent_total"].get<int64_t>() % (5 * 4), 0);
    models.push_back(FileText(run + "/model.safetensors"));
  }
  EXPECT_FALSE(models[0].empty());
  EXPECT_EQ(models[0], models[1]);
}

std::vector<std::string> LongSoloRun(const std::string& out) {
  return SoloCall("train",
                  {"--model=phantom:1MB", "--compute=5ms", "--rounds=100000", "--peer-timeout=2s"},
                  out);
}

TEST(SharedBudget, AnInterruptEndsAllNodes) {
  const ScratchFolder folder;
  GrapevineProcess run(LongSoloRun(folder.File("run")), kWithSolo);
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  run.Signal(SIGINT);
  EXPECT_EQ(run.Await(), 128 + SIGINT) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(), HasSubstr("grapevine train: ended by signal 2, Interrupt"));
}

TEST(SharedBudget, AKilledNodeEndsTheRunByName) {
  const ScratchFolder folder;
  GrapevineProcess run(LongSoloRun(folder.File("run")), kWithSolo);
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  ASSERT_NE(run.Node(1), 0);
  ASSERT_EQ(kill(run.Node(1), SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  for (const char* witness : {"\\[0\\]", "\\[2\\]"}) {
    EXPECT_THAT(run.output(), ContainsRegex(std::string(witness) + " grapevine node: .*rank 1 "));
  }
}

}  // namespace
}  // namespace grapevine::testing
