// `grapevine sim` as its users meet it: mistakes, sweeps, interruptions, advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// `flags` after those of a small timing-only run.
std::vector<std::string> Sim(std::vector<std::string> flags) {
  const std::vector<std::string> common = {"sim", "--model=phantom:100kB", "--compute=1ms",
                                           "--rounds=5"};
  flags.insert(flags.begin(), common.begin(), common.end());
  return flags;
}

void ExpectSimRefused(std::vector<std::string> flags, int exit_code,
                      const ::testing::Matcher<std::string>& message) {
  const ScratchFolder folder;
  flags.push_back("--out=" + folder.File("sweep"));
  const Ended ended = RunGrapevine(Sim(flags));
  SCOPED_TRACE(::testing::PrintToString(flags));
  EXPECT_EQ(ended.exit_code, exit_code);
  EXPECT_THAT(ended.output, message);
  EXPECT_FALSE(std::filesystem::exists(folder.File("sweep")));
}

TEST(Sim, MistakesNameTheirPlace) {
  ExpectSimRefused({"--topology=ring,"}, kUsage,
                   HasSubstr("--topology=ring,: an element of the list is empty"));
  ExpectSimRefused({"--bandwidth=1Gbit,1Gbit"}, kUsage,
                   HasSubstr("--bandwidth=1Gbit,1Gbit: a value is listed twice"));
  ExpectSimRefused({"--lr=0.1,0.10"}, kUsage, HasSubstr("--lr=0.1,0.10: a value is listed twice"));
  ExpectSimRefused({"--batch=4,0"}, kUsage, HasSubstr("--batch=0: must be positive"));
  ExpectSimRefused({"--slow=1:2,2:3"}, kUsage,
                   AllOf(HasSubstr("--slow=1:2,2:3: a run may have several of these"),
                         HasSubstr("write --slow=1:2 --slow=2:3")));
  ExpectSimRefused({"--bandwidth=-1Gbit"}, kUsage,
                   AllOf(HasSubstr("--bandwidth"), HasSubstr("-1Gbit")));
  ExpectSimRefused({"--bandwidth=1Gbit,-5Mbit"}, kUsage,
                   AllOf(HasSubstr("--bandwidth"), HasSubstr("-5Mbit")));
  ExpectSimRefused({"--network=cloud-regoin"}, kUsage,
                   AllOf(HasSubstr("cloud-regoin"), HasSubstr("cloud-region")));
  ExpectSimRefused({"--network=file:/none/net.textproto"}, kInput,
                   HasSubstr("/none/net.textproto"));
  ExpectSimRefused({"--topology=hypercube", "-n", "6"}, kUsage, HasSubstr("nearest is n = 4 or 8"));
}

TEST(Sim, ACellThatCannotBeIsReportedAndTheOthersFinish) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended =
      RunGrapevine(Sim({"--topology=ring,hypercube", "--nodes=4,6", "--out=" + out}));
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output,
              HasSubstr("1 of 4 cells failed; the first, nodes=6_topology=hypercube: "));
  const std::string csv = FileText(out + "/sweep.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_THAT(csv, HasSubstr("not for 6 nodes"));
  EXPECT_THAT(FileText(out + "/sweep.txt"), HasSubstr("hypercube"));
  int finished = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    finished += std::filesystem::exists(entry.path() / "summary.json");
  }
  EXPECT_EQ(finished, 3);
}

std::vector<std::string> Checkpointed(const std::string& out) {
  return {"sim",
          "-n",
          "3",
          "--model=softmax",
          "--data=synthetic:train=512:test=64",
          "--compute=1ms",
          "--batch=8",
          "--rounds=300",
          "--eval-every=5",
          "--checkpoint-every=20",
          "--out=" + out};
}

TEST(Sim, ARunThatIsKilledGoesOnAsIfItHadNeverStopped) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), killed = folder.File("killed");
  ASSERT_EQ(RunGrapevine(Checkpointed(whole)).exit_code, 0);
  {
    GrapevineProcess process(Checkpointed(killed));
    ASSERT_TRUE(Eventually([&] {
      return std::filesystem::exists(killed + "/checkpoints/round-40/manifest.textproto");
    })) << process.output();
    process.Signal(SIGKILL);
    process.Await();
  }
  const Ended resumed = RunGrapevine({"sim", "--resume=" + killed, "--checkpoint-every=20"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("run directory: " + killed));
  for (const char* file :
       {"/model.safetensors", "/node-0/model.safetensors", "/node-2/model.safetensors",
        "/checkpoints/round-300/model.safetensors", "/checkpoints/round-280/node-1.safetensors"}) {
    EXPECT_FALSE(FileText(whole + file).empty()) << file;
    EXPECT_TRUE(FileText(killed + file) == FileText(whole + file)) << file;
  }
  const auto lines = [](const std::string& run) {
    const std::string text = FileText(run + "/metrics.jsonl");
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines(killed), lines(whole));
}

TEST(Sim, RefusesToGoOnWithWhatItCannot) {
  const ScratchFolder folder;
  ExpectSimRefused({"--checkpoint-every=2"}, kUsage,
                   HasSubstr("--checkpoint-every=2: --model=phantom:100kB has no weights to save"));
  ExpectSimRefused({"--checkpoint-every=2", "--topology=ring,star"}, kUsage,
                   HasSubstr("--checkpoint-every=2: a sweep repeats the cells"));
  ExpectSimRefused({"--resume=" + folder.path()}, kUsage,
                   HasSubstr("--resume=" + folder.path() + ": is no run directory"));
}

TEST(Sim, TellsTheBusiestLinkOfAPhysicalNetwork) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended ended =
      RunGrapevine(Sim({"-n", "8", "--network=racks:hosts=4:oversubscription=8", "--out=" + out}));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("the busiest link is rack"));
  const auto links = JsonOf(FileText(out + "/statistics.json"))["busiest_links"];
  ASSERT_EQ(links.size(), 10u);
  EXPECT_GE(links[0]["utilization"], links[9]["utilization"]);
  EXPECT_GT(links[0]["bytes"], 0);
}

// Between the rounds of a site and those between sites: the credit for a message from the other
// site leaves when the round in the site begins, which takes less time than the credit; its
// messages come six times as fast as those that share the line between the sites.
TEST(Sim, ACreditBetweenSitesTravelsDuringTheRoundInTheSite) {
  const ScratchFolder folder;
  const std::string edges = folder.Write(
      "sites.edges", "round 0\n0 1\n0 2\n1 2\n3 4\n3 5\n4 5\nround 1\n0 3\n1 4\n2 5\n");
  const auto seconds = [&](const std::string& rounds) {
    const std::string out = folder.File(rounds);
    const Ended ended =
        RunGrapevine({"sim", "-n6", "--topology=file:" + edges,
                      "--network=sites:sites=2:bandwidth=1Gbit:latency=50us:wan-bandwidth=1Gbit:"
                      "wan-latency=30ms",
                      "--model=phantom:1MB", "--compute=0s", "--memory-bandwidth=0bit",
                      "--window=2", "--rounds=" + rounds, "--out=" + out});
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    return SummaryOf(out)["simulated_time_s"].get<double>();
  };
  // The credit's way, the message's, and three at a time through the line.
  EXPECT_NEAR(seconds("10") - seconds("8"), 2 * 30.05e-3 + 3 * 8e-3, 1e-6);
}

TEST(Sim, SweepsFillAFolderAndATable) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended = RunGrapevine(
      Sim({"--topology=ring,torus", "--bandwidth=100Mbit,1Gbit", "-n", "4", "--out=" + out}));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("4 cells"), HasSubstr("sweep.csv")));
  EXPECT_THAT(FileText(out + "/sweep.csv"),
              HasSubstr("topology,bandwidth,rounds,epochs,simulated_time_s,wall_time_s,"
                        "seconds_per_round"));
  EXPECT_TRUE(std::filesystem::exists(out + "/topology=torus_bandwidth=1Gbit/summary.json"));
  // What is no sweep is not written over.
  std::filesystem::create_directories(folder.File("other"));
  folder.Write("other/file", "of somebody's");
  const Ended refused =
      RunGrapevine(Sim({"--topology=ring,torus", "-n", "4", "--out=" + folder.File("other")}));
  EXPECT_EQ(refused.exit_code, kOutput);
  EXPECT_THAT(refused.output, HasSubstr("choose another --out"));
}

TEST(Sim, SweepsAnySetting) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended =
      RunGrapevine({"sim", "-n", "3", "--model=quadratic:dim=4,quadratic:dim=8", "--rounds=4,8",
                    "--optimizer=sgd,adam", "--schedule=constant", "--window=1,2", "--compute=1ms",
                    "--slow-start=false,true", "--slow=0:2", "--slow=1:3", "--out=" + out});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  const std::string csv = FileText(out + "/sweep.csv");
  EXPECT_THAT(csv, StartsWith("window,model,--rounds,optimizer,slow_start,rounds,epochs,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 33);
  const std::string cell =
      out + "/window=2_model=quadratic-dim=8_rounds=8_optimizer=adam_slow_start=true/";
  const std::string config = FileText(cell + "config.textproto");
  for (const char* setting : {"window: 2", "quadratic:dim=8", "optimizer: \"adam\"",
                              "slow_start: true", "slow: \"0:2\"", "slow: \"1:3\""}) {
    EXPECT_THAT(config, HasSubstr(setting));
  }
  EXPECT_EQ(SummaryOf(cell)["rounds"], 8);
}

TEST(Sim, AFinishedSweepIsNotOverwrittenUnasked) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const auto sweep = [&out](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"-n", "4", "--out=" + out});
    return RunGrapevine(Sim(std::move(flags)));
  };
  ASSERT_EQ(sweep({"--topology=ring,torus"}).exit_code, 0);
  const std::string csv = FileText(out + "/sweep.csv");
  const std::string summary = FileText(out + "/topology=ring/summary.json");

  // Another setting, and other lists.
  const Ended batch = sweep({"--topology=ring,torus", "--latency=5ms"});
  EXPECT_EQ(batch.exit_code, kOutput) << batch.output;
  EXPECT_THAT(batch.output,
              HasSubstr(out + " holds another sweep (`latency: \"5ms\"` is not in it); choose "
                              "another --out, or replace it with --overwrite"));
  const Ended lists = sweep({"--topology=ring,star"});
  EXPECT_EQ(lists.exit_code, kOutput) << lists.output;
  EXPECT_THAT(lists.output, HasSubstr("`# --topology=ring,star` is not in it"));
  EXPECT_EQ(sweep({"--topology=ring,star", "--dry-run"}).exit_code, kOutput);
  EXPECT_EQ(FileText(out + "/sweep.csv"), csv);
  EXPECT_EQ(FileText(out + "/topology=ring/summary.json"), summary);
  EXPECT_FALSE(std::filesystem::exists(out + "/topology=star"));

  // The same goes on: nothing is done again.
  const auto written = std::filesystem::last_write_time(out + "/topology=ring/summary.json");
  EXPECT_EQ(sweep({"--topology=ring,torus"}).exit_code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(out + "/topology=ring/summary.json"), written);

  // Asked for, another takes its place, and no cell of the first stays.
  EXPECT_EQ(sweep({"--topology=ring,star", "--overwrite"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(out + "/topology=torus"));
  EXPECT_TRUE(std::filesystem::exists(out + "/topology=star/summary.json"));
}

TEST(Sim, ASweepThatMeasuredGradientsGoesOnWithTheirTime) {
  const ScratchFolder folder;
  const std::vector<std::string> sweep = {"sim",
                                          "--model=softmax",
                                          "--data=synthetic:train=64:test=20",
                                          "--rounds=1",
                                          "--topology=ring,torus",
                                          "--batch=4,8",
                                          "--out=" + folder.File("sweep")};
  const Ended first = RunGrapevine(sweep);
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output,
              AllOf(HasSubstr("here (softmax, batch 4)"), HasSubstr("here (softmax, batch 8)")));
  const std::string summary = folder.File("sweep/topology=ring_batch=8/summary.json");
  const auto written = std::filesystem::last_write_time(summary);
  const Ended second = RunGrapevine(sweep);
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, Not(HasSubstr("a gradient takes")));
  EXPECT_EQ(std::filesystem::last_write_time(summary), written);
}

// An allreduce and a server use no graph: one simulation for all of the list, also where a
// graph does not exist for so many nodes.
TEST(Sim, WhatUsesNoGraphIsSimulatedOnceForAllGraphs) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended =
      RunGrapevine(Sim({"--topology=hypercube,ring,torus", "--algorithm=dpsgd,allreduce,ps", "-n",
                        "6", "--out=" + out}));
  EXPECT_EQ(ended.exit_code, kUsage) << "there is no hypercube of 6";
  EXPECT_THAT(ended.output, HasSubstr("1 of 9 cells failed"));
  std::vector<std::string> simulated;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    if (std::filesystem::exists(entry.path() / "summary.json")) {
      simulated.push_back(entry.path().filename().string());
    }
  }
  EXPECT_THAT(simulated, ::testing::UnorderedElementsAre("topology=ring_algorithm=dpsgd",
                                                         "topology=torus_algorithm=dpsgd",
                                                         "topology=hypercube_algorithm=allreduce",
                                                         "topology=hypercube_algorithm=ps"));
  std::map<std::string, std::set<std::string>> rows;  // results, by algorithm
  std::istringstream csv(FileText(out + "/sweep.csv"));
  std::string line;
  for (std::getline(csv, line); std::getline(csv, line);) {
    const size_t comma = line.find(',');
    const size_t second = line.find(',', comma + 1);
    rows[line.substr(comma + 1, second - comma - 1)].insert(line.substr(second));
  }
  EXPECT_EQ(rows["dpsgd"].size(), 3u);
  EXPECT_EQ(rows["allreduce"].size(), 1u) << "shared by three rows";
  EXPECT_EQ(rows["ps"].size(), 1u);
}

TEST(Sim, AGraphThatThereIsNotIsRefusedAlsoWhereNobodyUsesIt) {
  for (const char* graphs : {"--topology=ring,rign", "--topology=rign,ring"}) {
    const ScratchFolder folder;
    const Ended ended = RunGrapevine(
        Sim({graphs, "--algorithm=allreduce", "-n", "4", "--out=" + folder.File("sweep")}));
    EXPECT_EQ(ended.exit_code, kUsage) << graphs;
    EXPECT_THAT(ended.output,
                AllOf(HasSubstr("1 of 2 cells failed"), HasSubstr("did you mean ring?")));
  }
}

TEST(Sim, WhatUsesNoWeightsIsSimulatedOnceForAllWeights) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended = RunGrapevine(Sim({"--topology=ring,star", "--mixing=metropolis,uniform",
                                        "--algorithm=allreduce", "-n", "4", "--out=" + out}));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  size_t simulated = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    simulated += std::filesystem::exists(entry.path() / "summary.json");
  }
  EXPECT_EQ(simulated, 1u);
}

TEST(Sim, TheOthersWaitForAStoppedNodeForPeerTimeout) {
  const ScratchFolder folder;
  const auto time = [&](const std::string& peer_timeout) {
    const std::string run = folder.File(peer_timeout);
    const Ended ended = RunGrapevine(
        Sim({"-n8", "--rounds=40", "--on-failure=shrink", "--chaos=stop:rank=3:at=round:20:for=1h",
             "--peer-timeout=" + peer_timeout, "--out=" + run}));
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    return SummaryOf(run).value("simulated_time_s", 0.0);
  };
  EXPECT_NEAR(time("5s") - time("2s"), 3, 0.01);
}

TEST(Sim, AnInterruptedSweepLosesNothingAndGoesOn) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  // Cells that take a second, or minutes on a busy machine.
  constexpr std::chrono::seconds kCellPatience{240};
  const std::vector<std::string> sweep = {"sim",
                                          "--model=phantom:100kB",
                                          "--compute=exponential:mean=1ms",
                                          "--rounds=5000",
                                          "--nodes=32",
                                          "--topology=ring,torus,complete",
                                          "--seed=1,2,3,4,5,6,7,8",
                                          "--log-every=5000",
                                          "--out=" + out};
  const auto finished = [&out] {
    std::vector<std::filesystem::file_time_type> times;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(out, error)) {
      const auto summary = entry.path() / "summary.json";
      if (std::filesystem::exists(summary, error)) {
        times.push_back(std::filesystem::last_write_time(summary, error));
      }
    }
    std::ranges::sort(times);
    return times;
  };
  GrapevineProcess process(sweep);
  ASSERT_TRUE(Eventually([&] { return !finished().empty(); }, kCellPatience)) << process.output();
  process.Signal(SIGINT);
  EXPECT_EQ(process.Await(), kInterrupted);
  EXPECT_THAT(process.output(), HasSubstr("the same command with --out=" + out + " resumes"));
  const auto kept = finished();
  ASSERT_LT(kept.size(), 24u);
  EXPECT_THAT(FileText(out + "/sweep.csv"), HasSubstr("interrupted"));

  // Goes on: what was finished is not done again.
  GrapevineProcess second(sweep);
  ASSERT_TRUE(Eventually([&] { return finished().size() > kept.size(); }, kCellPatience))
      << second.output();
  second.Signal(SIGINT);
  second.Await();
  const auto more = finished();
  EXPECT_TRUE(std::ranges::includes(more, kept));
}

TEST(Sim, AdvisesInTextAndJson) {
  const std::vector<std::string> flags = {
      "sim",           "--advise", "--network=cloud-region", "-n", "8", "--model=phantom:1.08MB",
      "--compute=10ms"};
  const Ended text = RunGrapevine(flags);
  EXPECT_EQ(text.exit_code, 0) << text.output;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("take dpsgd on "), HasSubstr("Crossovers"), HasSubstr("goodput"),
                    HasSubstr("rests on time per round"), HasSubstr("allreduce:halving-doubling"),
                    HasSubstr("/23 candidates timed"), HasSubstr("looked at")));
  std::vector<std::string> as_json = flags;
  as_json.push_back("--json");
  const Ended json = RunGrapevine(as_json);
  const auto parsed = JsonOf(json.output);
  ASSERT_TRUE(parsed.is_object()) << json.output;
  EXPECT_EQ(parsed["choice"]["algorithm"], "dpsgd");
  EXPECT_EQ(parsed["basis"]["nodes"], 8);
  EXPECT_TRUE(parsed["crossover_latency_s"]["crossovers"].is_array());
}

TEST(Sim, AdviceSaysThatItKnowsNothingOfUnequalData) {
  const auto advise = [](const std::string& split, const std::string& json) {
    std::vector<std::string> flags = {"sim",
                                      "--advise",
                                      "-n",
                                      "3",
                                      "--model=softmax",
                                      "--data=synthetic:train=512:test=100",
                                      "--compute=10ms",
                                      "--split=" + split};
    if (!json.empty()) flags.push_back(json);
    return RunGrapevine(flags).output;
  };
  EXPECT_THAT(advise("label", ""), AllOf(HasSubstr("--split=label makes the nodes' data differ"),
                                         HasSubstr("not known here")));
  EXPECT_THAT(advise("iid", ""), ::testing::Not(HasSubstr("data differ, ")));
  EXPECT_EQ(JsonOf(advise("label", "--json"))["basis"]["split"], "label");
}

TEST(Sim, AdviceRefusesWhatItChooses) {
  const std::vector<std::string> flags = {"sim", "--advise", "--model=phantom:1MB",
                                          "--compute=10ms"};
  const auto with = [&flags](const std::string& flag) {
    std::vector<std::string> all = flags;
    all.push_back(flag);
    return RunGrapevine(all);
  };
  EXPECT_THAT(with("--topology=torus").output,
              HasSubstr("--topology: --advise compares them all; drop it"));
  EXPECT_THAT(with("--nodes=4,8").output, HasSubstr("give it no lists"));
  EXPECT_EQ(with("--nodes=4,8").exit_code, kUsage);
  EXPECT_THAT(RunGrapevine({"sim", "--json"}).output, HasSubstr("--advise"));
}

TEST(Sim, PlotsOfSweepsNameWhatIsMissing) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  RunGrapevine(Sim({"--algorithm=dpsgd,allreduce", "--bandwidth=100Mbit,1Gbit", "--latency=1ms",
                    "-n", "4", "--out=" + out}));
  const Ended ended = RunGrapevine({"plot", out, "--kind=winner", "-o", folder.File("winner.png")});
  EXPECT_EQ(ended.exit_code, kInput);
  EXPECT_THAT(ended.output, HasSubstr("the sweep has one latency (1ms); give --latency a list"));
}

}  // namespace
}  // namespace grapevine::testing
