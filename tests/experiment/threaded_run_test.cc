#include "experiment/real/threaded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/ids.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;

std::unique_ptr<Experiment> Built(std::map<std::string, std::string> flags) {
  flags.insert({{"nodes", "3"},
                {"topology", "ring"},
                {"model", "softmax"},
                {"data", "synthetic:train=512:test=200"},
                {"rounds", "8"}});
  const auto resolved = ResolveConfig({.flags = {flags.begin(), flags.end()}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

TEST(ThreadedRun, GivesTheSimulatorsModels) {
  const ScratchFolder folder;
  const std::string trained = folder.File("trained"), simulated = folder.File("simulated");
  for (const std::string& run : {trained, simulated}) std::filesystem::create_directory(run);
  const auto experiment = Built({{"compute", "1ms"}});
  int64_t measured = 0;
  const absl::StatusOr<Summary> real = RunInThreads(
      *experiment, {.run_directory = trained,
                    .on_metrics = [&](const RunMetrics& metrics) { measured = metrics.round; }});
  ASSERT_TRUE(real.ok()) << real.status();
  SimulatedRun simulation(experiment.get(), {.run_directory = simulated});
  const absl::StatusOr<Summary> virtual_one = simulation.Run();
  ASSERT_TRUE(virtual_one.ok()) << virtual_one.status();

  EXPECT_EQ(measured, 8);
  EXPECT_EQ(real->stopped, "finished");
  EXPECT_EQ(real->test_accuracy, virtual_one->test_accuracy);
  EXPECT_DOUBLE_EQ(*real->consensus_distance, *virtual_one->consensus_distance);
  EXPECT_EQ(real->bytes_sent_total, virtual_one->bytes_sent_total);
  for (const char* model : {"/model.safetensors", "/node-2/model.safetensors"}) {
    EXPECT_TRUE(FileText(trained + model) == FileText(simulated + model)) << model;
  }
}

// Updates that `server` has applied, by its own last line: messages to it, and answers.
int64_t Updates(const std::string& run, Rank server) {
  std::istringstream lines(FileText(absl::StrCat(run, "/node-", server, "/metrics.jsonl")));
  std::string line, last;
  while (std::getline(lines, line)) last = line;
  const absl::StatusOr<NodeMetrics> metrics = NodeMetricsFromJson(last);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  if (!metrics.ok() || !metrics->staleness) return 0;
  return std::accumulate(metrics->staleness->begin(), metrics->staleness->end(), int64_t{0});
}

// Of three servers of 7850 weights, the first has 2616 and the others 2617. Each update is a
// message to a server and an answer from it, of so many floats.
class LinksOfServers : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr Rank kWorkers = 2;
  static constexpr int64_t kGradients = 8 * kWorkers;

  void ExpectMessagesTimesBytes(const Summary& summary, const std::string& run) {
    const bool has_rounds = HasRounds(GetParam());
    ASSERT_TRUE(summary.server_links.has_value());
    std::vector<int64_t> bytes;
    for (const int64_t index : {0, 1, 2}) {
      const int64_t shard = (index + 1) * 7850 / 3 - index * 7850 / 3;
      const int64_t updates =
          has_rounds ? kGradients : Updates(run, static_cast<Rank>(kWorkers + index));
      bytes.push_back(updates * shard * 4);
    }
    EXPECT_GT(bytes.front(), 0);
    EXPECT_EQ(summary.server_links->bytes_received, bytes);
    EXPECT_EQ(summary.server_links->bytes_sent, bytes);
    const auto read = ReadSummary(run);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->server_links->bytes_sent, bytes);
  }
};

TEST_P(LinksOfServers, CarryMessagesTimesBytes) {
  const ScratchFolder folder;
  const std::string trained = folder.File("trained"), simulated = folder.File("simulated");
  for (const std::string& run : {trained, simulated}) std::filesystem::create_directory(run);
  const auto experiment =
      Built({{"algorithm", GetParam()}, {"nodes", "5"}, {"lr", "0.01"}, {"compute", "1ms"}});
  const absl::StatusOr<Summary> real = RunInThreads(*experiment, {.run_directory = trained});
  ASSERT_TRUE(real.ok()) << real.status();
  ExpectMessagesTimesBytes(*real, trained);
  SimulatedRun simulation(experiment.get(), {.run_directory = simulated});
  const absl::StatusOr<Summary> virtual_one = simulation.Run();
  ASSERT_TRUE(virtual_one.ok()) << virtual_one.status();
  ExpectMessagesTimesBytes(*virtual_one, simulated);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LinksOfServers,
                         ::testing::Values("ps:servers=3", "ps:async:servers=3",
                                           "ps:async:adaptive:servers=3",
                                           "downpour:window=3:servers=3", "adag:window=2:servers=3",
                                           "easgd:async:every=3:servers=3"));

TEST(ThreadedRun, EndsWithTheFirstFailure) {
  const ScratchFolder folder;
  const auto experiment = Built({{"lr", "1e38"}, {"rounds", "1000"}});
  const absl::StatusOr<Summary> ended = RunInThreads(*experiment, {.run_directory = folder.path()});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kDiverged) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("the loss became"));
}

TEST(ThreadedRun, HasTheTimeOutsOfItsConfiguration) {
  const ScratchFolder folder;
  const auto resolved = ResolveConfig({.flags = {{"nodes", "2"},
                                                 {"model", "phantom:1kB"},
                                                 {"compute", "20s"},
                                                 {"rounds", "1"},
                                                 {"peer_timeout", "1s"},
                                                 {"step_timeout", "1s"}}});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const auto experiment = Experiment::Build(resolved->config);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<Summary> ended =
      RunInThreads(**experiment, {.run_directory = folder.path()});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kPeerLost) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("--step-timeout=1s"));
}

TEST(ThreadedRun, EndsWhenRankZeroCannotBegin) {
  const auto experiment = Built({});
  const absl::StatusOr<Summary> ended =
      RunInThreads(*experiment, {.run_directory = "/dev/null/nowhere"});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kOutput) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("/dev/null/nowhere"));
}

}  // namespace
}  // namespace grapevine
