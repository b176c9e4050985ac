// Local runs to their end, and what makes one end early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/timing/compute_time.h"
#include "tests/model/datasets/write_jpeg.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"
#include "tests/testing/trace_file.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Two nodes on a little data, and what differs.
std::vector<std::string> Training(const std::string& out, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"train", "-n", "2", "--model=softmax",
                               "--data=synthetic:train=512:test=200", "--out", out});
  return flags;
}

int64_t SizeOfModel(const std::string& run) {
  return static_cast<int64_t>(std::filesystem::file_size(run + "/model.safetensors"));
}

// A variable of a process's environment, as the system shows it to its owner.
std::string Variable(pid_t pid, const std::string& name) {
  const std::string environment = FileText("/proc/" + std::to_string(pid) + "/environ"),
                    start = name + "=";
  for (size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
    if (environment.compare(at, start.size(), start) == 0) {
      return environment.substr(at + start.size()).c_str();
    }
  }
  return "";
}

TEST(Training, ItsNodesShareATokenThatNobodyElseSees) {
  const ScratchFolder folder;
  GrapevineProcess train({"train", "-n", "2", "--model=phantom:1MB", "--compute=5ms",
                          "--rounds=100000", "--out", folder.File("run")});
  ASSERT_TRUE(train.AwaitOutput("round 2/")) << train.output();
  const std::string token = Variable(train.Node(0), "GRAPEVINE_TOKEN");
  EXPECT_EQ(token.size(), 64u) << "256 bits";
  EXPECT_EQ(Variable(train.Node(1), "GRAPEVINE_TOKEN"), token);
  EXPECT_EQ(Variable(train.pid(), "GRAPEVINE_TOKEN"), "");
  for (const int rank : {0, 1}) {
    EXPECT_THAT(FileText("/proc/" + std::to_string(train.Node(rank)) + "/cmdline"),
                Not(HasSubstr(token)));
  }
  train.Signal(SIGINT);
  EXPECT_EQ(train.Await(), 128 + SIGINT);
  EXPECT_THAT(train.output(), Not(HasSubstr(token)));
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.File("run"))) {
    if (!file.is_regular_file()) continue;
    EXPECT_THAT(FileText(file.path()), Not(HasSubstr(token))) << file.path();
  }
}

TEST(Training, AParameterServerRunIsThatOfItsWorkers) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended ended = RunGrapevine({"train", "-n", "4", "--algorithm=ps:servers=1",
                                    "--model=softmax", "--data=synthetic:train=960:test=200",
                                    "--batch=16", "--epochs=5", "--out", out});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("batch 16 x 3 workers = 48, 100 rounds (5 epochs)"));

  const nlohmann::json summary = SummaryOf(out);
  EXPECT_EQ(summary["nodes"], 4);
  EXPECT_EQ(summary["workers"], 3);
  EXPECT_EQ(summary["algorithm"], "ps:servers=1");
  EXPECT_EQ(summary["rounds"], 100);
  EXPECT_DOUBLE_EQ(summary["epochs"], 5);
  EXPECT_GT(summary["test_accuracy"], 0.5);
  EXPECT_EQ(summary["consensus_distance"], 0);
  // All workers have the same model.
  const nlohmann::json local = summary["local_test_accuracy"];
  EXPECT_EQ(local["min"], local["max"]);
  EXPECT_DOUBLE_EQ(local["min"], summary["test_accuracy"]);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(
        std::filesystem::exists(out + "/node-" + std::to_string(rank) + "/model.safetensors"));
  }

  // The server: measured, but without a model. Up and down, 100 rounds of 3
  // workers' replicas.
  EXPECT_FALSE(std::filesystem::exists(out + "/node-3/model.safetensors"));
  const std::vector<nlohmann::json> lines = JsonLines(out + "/node-3/metrics.jsonl");
  ASSERT_FALSE(lines.empty());
  nlohmann::json last = lines.back();
  EXPECT_EQ(last["round"], 100);
  EXPECT_FALSE(last.contains("train_loss"));
  const int64_t sent = last["bytes_sent_total"];
  const int64_t received = last["bytes_received_total"];
  const int64_t replica = sent / 300;
  EXPECT_NEAR(static_cast<double>(replica), static_cast<double>(SizeOfModel(out)), 2000)
      << "but for the header of the file";
  EXPECT_EQ(sent, 300 * replica);
  EXPECT_EQ(received, 300 * replica);
  EXPECT_EQ(summary["bytes_sent_total"], 600 * replica);
}

TEST(Training, AnUnfitParameterServerIsRefusedWithARemedy) {
  const auto refused = [](const std::vector<std::string>& flags) {
    const ScratchFolder folder;
    const Ended ended = RunGrapevine(Training(folder.File("run"), flags));
    EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
    return ended.output;
  };
  EXPECT_THAT(refused({"--algorithm=ps:servers=2"}),
              AllOf(HasSubstr("ps:servers=2: 2 servers of 2 nodes leave no worker"),
                    HasSubstr("raise --nodes to at least 3 or lower servers to at most 1")));
  EXPECT_THAT(refused({"--algorithm=ps", "--slow=1:3"}),
              HasSubstr("--slow=1:3: there is no rank 1 among 1 nodes that compute gradients: from "
                        "rank 1 on they are parameter servers"));
}

TEST(Training, ALossThatIsNoNumberEndsTheRun) {
  const ScratchFolder folder;
  GrapevineProcess run(Training(folder.File("run"), {"--lr=1e38", "--rounds=1000"}));
  EXPECT_EQ(run.Await(), kDiverged) << run.output();
  EXPECT_THAT(run.output(), AllOf(ContainsRegex("rank [01]"), ContainsRegex("in round [0-9]+"),
                                  HasSubstr("--lr")));
  EXPECT_TRUE(run.AwaitNobody());
}

// Two classes with four images each to train and to test on.
void WriteImages(const ScratchFolder& folder) {
  for (const std::string name : {"train/cat", "train/ant", "val/cat", "val/ant"}) {
    std::filesystem::create_directories(folder.File("images/" + name));
    for (int i = 0; i < 4; ++i) {
      const auto value = [&](int x, int y, int c) { return 5 * x + (i + 3) * y + 7 * c; };
      folder.Write("images/" + name + "/" + std::to_string(i) + ".jpg",
                   JpegBytes({.width = 24 + i, .height = 20}, value));
    }
  }
}

std::vector<std::string> OnImages(const std::string& command, const ScratchFolder& folder) {
  return {command,
          "-n",
          "2",
          "--batch=3",
          "--rounds=4",
          "--model=softmax",
          "--data=image-folder:" + folder.File("images") + ":size=8",
          "--out",
          folder.File(command)};
}

TEST(Training, AFolderOfImagesGivesTheSimulatorsModel) {
  const ScratchFolder folder;
  WriteImages(folder);
  for (const std::string command : {"train", "sim"}) {
    const Ended ended = RunGrapevine(OnImages(command, folder));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
  }
  EXPECT_TRUE(FileText(folder.File("train/model.safetensors")) ==
              FileText(folder.File("sim/model.safetensors")));
}

TEST(Training, AnImageThatCannotBeDecodedEndsTheRun) {
  const ScratchFolder folder;
  WriteImages(folder);
  const std::string broken = folder.Write("images/train/ant/2.jpg", "a text");
  const Ended ended = RunGrapevine(OnImages("train", folder));
  EXPECT_EQ(ended.exit_code, kInput) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(broken + ": cannot decode it as JPEG: Not a JPEG file"));
}

// Evaluated often: what comes after the target is met differs from what met it.
std::vector<std::string> TowardsATarget(const std::string& target, const std::string& rounds) {
  return {"--target-accuracy=" + target, "--rounds=" + rounds, "--eval-every=0.25",
          "--schedule=constant"};
}

TEST(Training, WhatMetTheTargetAccuracyIsToldAndKept) {
  const ScratchFolder folder;
  std::vector<std::string> flags = Training("", TowardsATarget("30%", "2000"));
  for (const std::string command : {"train", "sim"}) {
    SCOPED_TRACE(command);
    const std::string out = folder.File(command);
    flags.front() = command;
    *(std::ranges::find(flags, "--out") + 1) = out;
    const Ended ended = RunGrapevine(flags);
    ASSERT_EQ(ended.exit_code, 0) << ended.output;

    const std::vector<nlohmann::json> lines = JsonLines(out + "/metrics.jsonl");
    const auto met = std::ranges::find_if(
        lines, [](const nlohmann::json& line) { return line.value("test_accuracy", 0.0) >= 0.3; });
    ASSERT_NE(met, lines.end());
    const nlohmann::json summary = SummaryOf(out);
    EXPECT_EQ(summary["stopped"], "target accuracy");
    EXPECT_EQ(summary["target"], (nlohmann::json{{"accuracy", 0.3},
                                                 {"met", true},
                                                 {"round", (*met)["round"]},
                                                 {"epoch", (*met)["epoch"]},
                                                 {"time_s", (*met)["time_s"]},
                                                 {"bytes_sent_total", (*met)["bytes_sent_total"]},
                                                 {"test_accuracy", (*met)["test_accuracy"]}}));
    for (const char* of_the_model : {"test_loss", "test_accuracy", "consensus_distance"}) {
      EXPECT_EQ(summary[of_the_model], (*met)[of_the_model]) << of_the_model;
    }
    const std::string round = (*met)["round"].dump();
    EXPECT_THAT(FileText(out + "/model.safetensors").substr(0, 1000),
                HasSubstr("\"rounds\":\"" + round + "\""));
    EXPECT_THAT(ended.output, HasSubstr("target accuracy of 30 % met in round " + round + " ("));
    EXPECT_EQ(summary["rounds"], lines.back()["round"]);
    // Real nodes go on to the end that was announced, the simulator stops.
    if (command == "sim") {
      EXPECT_EQ(lines.back()["round"], (*met)["round"]);
    }
  }
  EXPECT_TRUE(FileText(folder.File("train/model.safetensors")) ==
              FileText(folder.File("sim/model.safetensors")));
}

TEST(Training, ATargetAccuracyThatIsNotMetIsTold) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine(Training(folder.File("run"), TowardsATarget("0.999", "8")));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("target accuracy of 99.9 % not met"));
  const nlohmann::json summary = SummaryOf(folder.File("run"));
  EXPECT_EQ(summary["stopped"], "finished");
  EXPECT_EQ(summary["target"], (nlohmann::json{{"accuracy", 0.999}, {"met", false}}));
}

TEST(Training, AFullDiskIsNamedAndEndsTheRun) {
  const ScratchFolder folder;
  GrapevineProcess run(Training(folder.File("run"), {"--rounds=100000", "--log-every=1"}),
                       {.largest_file = 20000});
  EXPECT_EQ(run.Await(), kOutput) << run.output();
  EXPECT_THAT(run.output(), AllOf(HasSubstr(folder.File("run")), HasSubstr("model.safetensors"),
                                  HasSubstr("File too large")));
  EXPECT_TRUE(run.AwaitNobody());
}

// A real phantom run waits for the times that a simulated one would charge.
TEST(Training, AGradientTakesTheTimeThatIsDrawnForIt) {
  const ScratchFolder folder;
  const std::string compute = "exponential:mean=4ms";
  const std::string straggler = "p=0.3:factor=5";
  constexpr uint64_t kSeed = 3;
  constexpr Round kRounds = 20;
  const Ended ended =
      RunGrapevine({"train", "-n", "2", "--model=phantom:1kB", "--compute=" + compute,
                    "--straggler=" + straggler, "--seed=" + std::to_string(kSeed),
                    "--rounds=" + std::to_string(kRounds), "--out=" + folder.File("run")});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const auto times =
      WithStragglers(*MakeComputeTime(compute, kSeed), *Stragglers::Make(straggler, {}, 2, kSeed));
  double drawn_s = 0;
  for (Round round = 0; round < kRounds; ++round) {
    drawn_s += 1e-9 * static_cast<double>(times->Gradient(0, round));
  }
  double gradient_s = 0;
  for (const auto& line : JsonLines(folder.File("run") + "/node-0/metrics.jsonl")) {
    gradient_s += line["gradient_s"].get<double>();
  }
  EXPECT_GE(gradient_s, drawn_s);
  EXPECT_GE(SummaryOf(folder.File("run"))["wall_time_s"], drawn_s);
}

TEST(Training, WhereTheTimeOfAStepWentIsToldAndKept) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine({"train", "-n", "4", "--model=phantom:1kB", "--compute=10ms",
                                    "--slow=2:5", "--rounds=20", "--out=" + folder.File("run")});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("\na step takes "), HasSubstr("\nof it: gradient "),
                                  HasSubstr("\nthe slowest node is rank 2: ")));
  const nlohmann::json summary = SummaryOf(folder.File("run"));
  const nlohmann::json& steps = summary["steps"];
  const nlohmann::json& slowest = summary["slowest_node"];
  EXPECT_EQ(steps["count"], 80) << "of all rounds, each once";
  EXPECT_EQ(slowest["rank"], 2);
  EXPECT_EQ(slowest["count"], 20);
  EXPECT_GE(slowest["gradient_s"], 0.05);
  EXPECT_GE(steps["gradient_s"], (3 * 0.01 + 0.05) / 4);
  EXPECT_GT(steps["wait_s"], slowest["wait_s"]) << "the others wait";
}

// A ring: rank 2 has the neighbours 1 and 3.
TEST(Training, NeighboursOfASlowNodeSayThatTheyWaitedForIt) {
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine({"train", "-n", "4", "--model=phantom:1kB", "--compute=10ms", "--rounds=20",
                    "--chaos=slow:rank=2:factor=10", "--out=" + folder.File("run")});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, ContainsRegex("\nwho waited longest for whom: rank [13] for rank 2, "));
  for (const char* neighbour : {"1", "3"}) {
    double slow_s = 0, others_s = 0;
    for (const auto& line :
         JsonLines(folder.File("run") + "/node-" + neighbour + "/metrics.jsonl")) {
      double waited_s = 0;
      for (const auto& wait : line["waited_for"]) {
        (wait["rank"] == 2 ? slow_s : others_s) += wait["seconds"].get<double>();
        waited_s += wait["seconds"].get<double>();
      }
      EXPECT_LE(waited_s, line["wait_s"].get<double>() + 1e-3) << line;
    }
    EXPECT_GT(slow_s, 20 * 0.09 / 2) << "of 20 rounds, most wait for 90 ms";
    EXPECT_GT(slow_s, 4 * others_s);
  }
  const nlohmann::json waits = SummaryOf(folder.File("run"))["longest_waits"];
  ASSERT_GE(waits.size(), 2u);
  EXPECT_EQ(waits[0]["peer"], 2) << waits;
  EXPECT_EQ(waits[1]["peer"], 2) << waits;
}

TEST(Training, ATraceTellsWhatEveryNodeDid) {
  const ScratchFolder folder;
  constexpr size_t kNodes = 3;
  constexpr size_t kRounds = 8;
  const std::string trace = folder.File("trace.json");
  const Ended ended =
      RunGrapevine({"train", "-n", std::to_string(kNodes), "--topology=complete", "--model=softmax",
                    "--data=synthetic:train=512:test=100", "--rounds=" + std::to_string(kRounds),
                    "--out=" + folder.File("run"), "--trace=" + trace});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("trace: " + trace));
  const TraceFile file(trace);
  file.ExpectWellFormed();
  EXPECT_EQ(file.Named("round ").size(), kNodes * kRounds);
  EXPECT_EQ(file.Named("gradient").size(), kNodes * kRounds);
  EXPECT_GE(file.Named("mix").size(), kNodes * kRounds);
  const size_t messages = kNodes * (kNodes - 1) * kRounds;
  EXPECT_EQ(file.Named("to ").size(), messages);
  EXPECT_EQ(file.Named("from ").size(), messages);
  EXPECT_EQ(file.ExpectArrows(), static_cast<int>(messages));
  for (size_t rank = 0; rank < kNodes; ++rank) {
    EXPECT_FALSE(std::filesystem::exists(folder.File("run") + "/node-" + std::to_string(rank) +
                                         "/trace.bin"));
  }
}

TEST(Training, AProfileTellsTheSimulatorHowLongGradientsTake) {
  const ScratchFolder folder;
  const std::string profile = folder.File("profile.textproto");
  const Ended trained =
      RunGrapevine({"train", "-n", "3", "--model=softmax", "--data=synthetic:train=512:test=100",
                    "--rounds=9", "--out=" + folder.File("run"), "--profile=" + profile});
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_THAT(trained.output, HasSubstr("grapevine sim --compute=profile:" + profile));
  EXPECT_FALSE(std::filesystem::exists(folder.File("run") + "/node-0/profile.textproto"));
  const Ended simulated =
      RunGrapevine({"sim", "-n", "64", "--model=phantom:1MB", "--compute=profile:" + profile,
                    "--rounds=5", "--out=" + folder.File("sim")});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.output;
  const std::string config = FileText(folder.File("sim") + "/config.textproto");
  EXPECT_THAT(config, HasSubstr("compute: \"profile:" + profile));
  // Measured, not the default.
  EXPECT_THAT(config, HasSubstr("memory_bandwidth: "));
  EXPECT_THAT(config, Not(HasSubstr("memory_bandwidth: \"80Gbit\"")));
}

TEST(Training, QuadraticsComeNearTheirOptimumOverGrpc) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended ended =
      RunGrapevine({"train", "-n", "4", "--model=quadratic:dim=50:spread=1:noise=0.1",
                    "--rounds=100", "--lr=0.1", "--eval-every=50", "--out", out});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const nlohmann::json summary = SummaryOf(out);
  EXPECT_EQ(summary["data"], "");
  EXPECT_FALSE(summary.contains("test_accuracy"));
  EXPECT_FALSE(summary.contains("local_test_accuracy"));
  EXPECT_LT(summary["test_loss"], 0.1) << "50 coordinates began 1 away";
  EXPECT_GT(summary["consensus_distance"], 0);
}

TEST(Training, ARecordThatCannotBeWrittenEndsTheRunBeforeItBegins) {
  for (const std::string flag : {"--trace", "--profile"}) {
    const ScratchFolder folder;
    const Ended ended = RunGrapevine(
        Training(folder.File("run"), {"--rounds=100000", flag + "=/no/such/folder/file"}));
    EXPECT_EQ(ended.exit_code, kOutput) << flag;
    EXPECT_THAT(ended.output, HasSubstr("/no/such/folder/file")) << flag;
  }
}

TEST(Training, AnEarlierRunStaysUnlessToldOtherwise) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  ASSERT_EQ(RunGrapevine(Training(out, {"--rounds=2"})).exit_code, 0);
  const Ended refused = RunGrapevine(Training(out, {"--rounds=3"}));
  EXPECT_EQ(refused.exit_code, kOutput);
  EXPECT_THAT(refused.output, AllOf(HasSubstr(out + " holds an earlier run"),
                                    HasSubstr("another --out"), HasSubstr("--overwrite")));
  EXPECT_EQ(SummaryOf(out)["rounds"], 2);
  EXPECT_EQ(RunGrapevine(Training(out, {"--rounds=3", "--overwrite"})).exit_code, 0);
  EXPECT_EQ(SummaryOf(out)["rounds"], 3);
}

TEST(Training, ARunCanBeRepeatedFromItsConfiguration) {
  const ScratchFolder folder;
  ASSERT_EQ(RunGrapevine(Training(folder.File("a"), {"--rounds=4"})).exit_code, 0);
  const Ended again = RunGrapevine(
      {"train", "--config=" + folder.File("a/config.textproto"), "--out=" + folder.File("b")});
  ASSERT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(SummaryOf(folder.File("a"))["test_loss"], SummaryOf(folder.File("b"))["test_loss"]);
}

}  // namespace
}  // namespace grapevine::testing
