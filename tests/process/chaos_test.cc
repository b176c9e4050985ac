// --chaos, simulated and over real processes: pauses change no bit, and what ends a run ends both
// with one verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Every fault that passes; each begins with a round, and is over long before --peer-timeout.
constexpr const char* kPauses[] = {
    "stop:rank=2:at=round:10:for=400ms",         "cut:edge=0-1:at=round:5:for=600ms",
    "partition:ranks=0+1:at=round:20:for=500ms", "slow:rank=3:factor=3:at=round:8:for=300ms",
    "drop:p=0.1:edge=2-3:at=round:15:for=500ms", "random:seed=3:rate=0.05:for=100ms"};

// Of four nodes on a ring.
std::vector<std::string> CommandOf(const std::string& command, const std::string& algorithm,
                                   const std::string& out) {
  return {command,
          "-n4",
          "--algorithm=" + algorithm,
          "--model=softmax",
          "--data=synthetic:train=512:test=200",
          "--rounds=60",
          "--log-every=10",
          "--out=" + out};
}

std::vector<std::string> Under(std::vector<std::string> command,
                               const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) command.push_back("--chaos=" + fault);
  return command;
}

void ExpectSameModels(const std::string& one, const std::string& other) {
  for (const char* model :
       {"/model.safetensors", "/node-0/model.safetensors", "/node-1/model.safetensors",
        "/node-2/model.safetensors", "/node-3/model.safetensors"}) {
    const std::string bits = FileText(one + model);
    EXPECT_FALSE(bits.empty()) << one << model;
    EXPECT_TRUE(bits == FileText(other + model)) << other << model;
  }
}

class Pauses : public ::testing::TestWithParam<const char*> {};

TEST_P(Pauses, ChangeNoBitInEitherWorld) {
  const ScratchFolder folder;
  const std::vector<std::string> faults(std::begin(kPauses), std::end(kPauses));
  const Ended whole = RunGrapevine(CommandOf("sim", GetParam(), folder.File("whole")));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  for (const char* command : {"sim", "train"}) {
    const std::string out = folder.File(command);
    const Ended run = RunGrapevine(Under(CommandOf(command, GetParam(), out), faults));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    ExpectSameModels(folder.File("whole"), out);
    const std::string record = FileText(out + "/chaos.jsonl");
    for (const char* fault : kPauses) {
      if (std::string(fault).starts_with("random")) continue;
      // Its options stand in an order of their own.
      EXPECT_THAT(record, HasSubstr(std::string(fault).substr(std::string(fault).find(":at="))));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Pauses,
                         ::testing::Values("dpsgd", "dpsgd:order=atc", "allreduce"));

// Many more, of every method whose nodes go through rounds together, over both kinds of networks.
TEST(SimulatedChaos, RandomPausesChangeNoBitOfAnyMethod) {
  const ScratchFolder folder;
  for (const char* algorithm :
       {"dpsgd:local=3", "sgp", "sgp:overlap=2", "noloco:every=2", "allreduce:tree",
        "allreduce:hierarchical:groups=2", "average:every=3", "ps", "ps:servers=2"}) {
    const auto simulate = [&](const std::string& name, const std::vector<std::string>& more) {
      std::vector<std::string> command = CommandOf("sim", algorithm, folder.File(name));
      command.insert(command.end(), {"--compute=5ms", "--overwrite"});
      command.insert(command.end(), more.begin(), more.end());
      const Ended run = RunGrapevine(command);
      EXPECT_EQ(run.exit_code, 0) << algorithm << ": " << run.output;
      return FileText(folder.File(name) + "/model.safetensors");
    };
    const std::string model = simulate("whole", {});
    ASSERT_FALSE(model.empty());
    for (const char* network : {"--network-model=nic", "--network-model=packets"}) {
      EXPECT_TRUE(simulate("bumpy", {network, "--chaos=random:seed=4:rate=0.4:for=200ms"}) == model)
          << algorithm << " " << network;
    }
  }
}

// Nodes that compute for 10 ms and wait for each other: a stop of a second is one, and the time of
// messages is small.
TEST(SimulatedChaos, AStopTakesItsTime) {
  const ScratchFolder folder;
  const auto simulated = [&folder](const std::string& name,
                                   const std::vector<std::string>& faults) {
    const std::string out = folder.File(name);
    const Ended run = RunGrapevine(Under(
        {"sim", "-n4", "--model=phantom:100kB", "--compute=10ms", "--rounds=50", "--out=" + out},
        faults));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return SummaryOf(out)["simulated_time_s"].get<double>();
  };
  const double whole = simulated("whole", {});
  EXPECT_NEAR(simulated("stop", {"stop:rank=2:at=100ms:for=1s"}), whole + 1, 0.01);
  EXPECT_NEAR(simulated("cut", {"cut:edge=1-2:at=round:7:for=1s"}), whole + 1, 0.02);
  // 50 more rounds' time: ten gradients of 60 ms instead of 10 ms.
  EXPECT_NEAR(simulated("slow", {"slow:rank=1:factor=6:at=round:5:for=600ms"}), whole + 0.5, 0.05);
  EXPECT_NEAR(simulated("late", {"stop:rank=2:at=1h:for=1s"}), whole, 1e-9);
}

// A server counts steps, and comes to the round of the cut before its only worker, which waits for
// it from then on.
TEST(CutFromTheServer, EndsBothWorldsWithAName) {
  const ScratchFolder folder;
  for (const char* command : {"sim", "train"}) {
    const Ended run = RunGrapevine(
        Under({command, "-n2", "--algorithm=ps:async", "--rounds=1000", "--compute=10ms",
               "--model=phantom:1KB", "--peer-timeout=2s", "--out=" + folder.File(command)},
              {"cut:edge=0-1:at=round:3"}));
    EXPECT_EQ(run.exit_code, 6) << run.output;
    EXPECT_THAT(run.output, HasSubstr("rank 0")) << command;
  }
}

// Their edge carries nothing.
TEST(CutBetweenWorkersOfAServer, LosesNobodyInBothWorlds) {
  const ScratchFolder folder;
  for (const char* command : {"sim", "train"}) {
    for (const char* algorithm : {"ps", "ps:async"}) {
      const std::string out = folder.File(absl::StrCat(command, algorithm));
      const Ended run = RunGrapevine(
          Under({command, "-n4", absl::StrCat("--algorithm=", algorithm), "--rounds=20",
                 "--compute=1ms", "--model=phantom:1KB", "--on-failure=shrink", "--out=" + out},
                {"cut:edge=0-1:at=round:3", "cut:edge=1-2:at=round:5"}));
      EXPECT_EQ(run.exit_code, 0) << run.output;
      EXPECT_THAT(run.output, Not(HasSubstr("left"))) << command << ' ' << algorithm;
    }
  }
}

// A server's part of the model is nowhere else, so that nobody goes on without it, whatever may be
// said of workers.
TEST(SimulatedChaos, TheDeathOfAServerEndsTheRun) {
  const ScratchFolder folder;
  const Ended run = RunGrapevine(
      Under({"sim", "-n9", "--algorithm=ps", "--rounds=30", "--compute=pareto:min=8ms:alpha=3",
             "--model=phantom:20KB", "--latency=50ms", "--on-failure=shrink",
             "--out=" + folder.File("run")},
            {"kill:rank=8:at=round:4", "kill:rank=3:at=round:4", "kill:rank=2:at=100ms"}));
  EXPECT_EQ(run.exit_code, 6) << run.output;
  EXPECT_THAT(run.output, HasSubstr("rank 8 was killed"));
}

struct Fatal {
  std::string fault;
  int exit_code;
  std::string culprit;
  friend std::ostream& operator<<(std::ostream& out, const Fatal& fatal) {
    return out << fatal.fault;
  }
};

class Ending : public ::testing::TestWithParam<Fatal> {};

TEST_P(Ending, HasOneVerdictInBothWorlds) {
  const ScratchFolder folder;
  for (const char* command : {"sim", "train"}) {
    std::vector<std::string> ending = CommandOf(command, "dpsgd", folder.File(command));
    ending.push_back("--on-failure=end");
    const Ended run = RunGrapevine(Under(ending, {GetParam().fault}));
    EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.output;
    EXPECT_THAT(run.output, HasSubstr(GetParam().culprit)) << command;
    EXPECT_THAT(FileText(folder.File(command) + "/chaos.jsonl"), HasSubstr(GetParam().fault));
    EXPECT_TRUE(FileText(folder.File(command) + "/summary.json").empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, Ending,
                         ::testing::Values(Fatal{"kill:rank=2:at=round:20", 6, "rank 2"},
                                           Fatal{"kill:rank=0:at=round:20", 6, "rank 0"},
                                           Fatal{"corrupt:edge=1-2:at=round:20", 6, "CRC-32C"},
                                           Fatal{"disk-full:rank=3:at=round:20", 4, "rank 3"}));

// --chaos is one of the run's settings, with which it goes on.
TEST(ChaosOfARunThatGoesOn, DoesNotRepeatWhatIsOver) {
  const ScratchFolder folder;
  for (const char* command : {"sim", "train"}) {
    const std::string out = folder.File(command);
    std::vector<std::string> killed =
        Under(CommandOf(command, "dpsgd", out),
              {"stop:rank=1:at=round:10:for=100ms", "kill:rank=1:at=round:50"});
    killed.push_back("--checkpoint-every=20");
    EXPECT_EQ(RunGrapevine(killed).exit_code, 6);
    const Ended resumed = RunGrapevine({command, "--resume=" + out});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
    const std::string record = FileText(out + "/chaos.jsonl");
    EXPECT_EQ(record.find("\"stop"), record.rfind("\"stop")) << record;
  }
}

TEST(ChaosFlag, WhatCannotBeIsRefusedBeforeAnythingStarts) {
  const ScratchFolder folder;
  for (const char* command : {"sim", "train"}) {
    const Ended run = RunGrapevine(
        Under(CommandOf(command, "dpsgd", folder.File(command)), {"cut:edge=0-2:at=1s:for=1s"}));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, HasSubstr("--chaos=cut:edge=0-2:at=1s:for=1s: ranks 0 and 2 are no "
                                      "neighbours"));
  }
}

TEST(ChaosFlag, NobodyStopsANodeThatNobodyStarted) {
  const ScratchFolder folder;
  const Ended run = RunGrapevine({"node", "--rank=0", "--world-size=1", "-n1",
                                  "--out=" + folder.File("run"), "--data=synthetic:train=512",
                                  "--model=softmax", "--chaos=stop:rank=0:at=1s:for=1s"});
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("--chaos=stop:rank=0:at=1s:for=1s: nobody would let"));
}

}  // namespace
}  // namespace grapevine::testing
