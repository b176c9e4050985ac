// Real runs of processes that are killed and go on from their checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Checkpointed(const std::string& out, int rounds = 1500,
                                      const std::string& every = "20") {
  return {"train",
          "-n",
          "3",
          "--model=softmax",
          "--data=synthetic:train=512:test=64",
          "--batch=8",
          "--rounds=" + std::to_string(rounds),
          "--eval-every=5",
          "--momentum=0.9",
          "--checkpoint-every=" + every,
          "--out=" + out};
}

bool HasCheckpoint(const std::string& run) {
  const std::filesystem::path folder = run + "/checkpoints";
  if (!std::filesystem::exists(folder)) return false;
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
    return std::filesystem::exists(entry.path() / "manifest.textproto");
  });
}

// The last complete checkpoint; -1 if there is none (any more).
int LastRound(const std::string& run) {
  std::error_code error;
  int last = -1;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints", error)) {
    if (!std::filesystem::exists(entry.path() / "manifest.textproto", error)) continue;
    last = std::max(last, std::stoi(entry.path().filename().string().substr(6)));
  }
  return last;
}

std::string LastManifest(const std::string& run) {
  return FileText(run + "/checkpoints/round-" + std::to_string(LastRound(run)) +
                  "/manifest.textproto");
}

void ExpectSameFiles(const std::string& run, const std::string& whole) {
  for (const char* file :
       {"/model.safetensors", "/node-0/model.safetensors", "/node-2/model.safetensors",
        "/checkpoints/round-1500/model.safetensors", "/checkpoints/round-1500/node-1.safetensors",
        "/checkpoints/round-1480/node-2.safetensors"}) {
    EXPECT_FALSE(FileText(whole + file).empty()) << file;
    EXPECT_TRUE(FileText(run + file) == FileText(whole + file)) << file;
  }
  const auto lines = [](const std::string& path) {
    const std::string text = FileText(path + "/metrics.jsonl");
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines(run), lines(whole));
  EXPECT_EQ(lines(run + "/node-1"), lines(whole + "/node-1"));
}

// Nobody has any warning: the launcher and all nodes are killed at once.
TEST(Checkpoints, ARunThatIsKilledGoesOnAsIfItHadNeverStopped) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), killed = folder.File("killed");
  const Ended undisturbed = RunGrapevine(Checkpointed(whole));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.output;
  {
    GrapevineProcess process(Checkpointed(killed));
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(killed); })) << process.output();
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  EXPECT_FALSE(std::filesystem::exists(killed + "/summary.json"));
  EXPECT_TRUE(std::filesystem::exists(killed + "/run.lock")) << "which holds nobody up";
  const Ended resumed = RunGrapevine({"train", "--resume=" + killed});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("goes on after round "));
  EXPECT_FALSE(std::filesystem::exists(killed + "/run.lock"));
  ExpectSameFiles(killed, whole);

  const Ended again = RunGrapevine({"train", "--resume=" + killed});
  EXPECT_EQ(again.exit_code, kUsage) << again.output;
  EXPECT_THAT(again.output, AllOf(HasSubstr("the run is over: all its 1500 rounds are done"),
                                  Not(HasSubstr("run directory:"))));
}

// A server's part of the model is nowhere else; rank 0's role goes to nobody where there are
// checkpoints.
TEST(Checkpoints, ARunBeginsAgainWhoeverIsLost) {
  const ScratchFolder folder;
  for (const std::string lost : {"0", "2"}) {
    const auto command = [&](const std::string& out) {
      std::vector<std::string> command = Checkpointed(folder.File(out + lost));
      command.push_back("--algorithm=ps");
      return command;
    };
    const Ended whole = RunGrapevine(command("whole"));
    ASSERT_EQ(whole.exit_code, 0) << whole.output;
    std::vector<std::string> failing = command("lost");
    failing.push_back("--chaos=kill:at=round:700:rank=" + lost);
    failing.push_back("--max-restarts=2");
    const Ended run = RunGrapevine(failing);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    EXPECT_THAT(run.output,
                ContainsRegex("all begin again after round [0-9]+ .1 of --max-restarts=2"));
    for (const char* file : {"/model.safetensors", "/checkpoints/round-1500/node-2.safetensors"}) {
      EXPECT_TRUE(FileText(folder.File("lost" + lost) + file) ==
                  FileText(folder.File("whole" + lost) + file))
          << file;
    }
  }
}

// Likewise where a server's part changes with every update of a worker. The order of these is
// another then: the model is as good.
TEST(Checkpoints, ARunWithoutRoundsBeginsAgainWhoeverIsLost) {
  const ScratchFolder folder;
  for (const int lost : {1, 2}) {
    const std::string out = folder.File("lost" + std::to_string(lost));
    std::vector<std::string> command = Checkpointed(out, 4000);
    command.insert(command.end(), {"--algorithm=ps:async", "--max-restarts=2"});
    GrapevineProcess process(command);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(out); })) << process.output();
    kill(process.Node(lost), SIGKILL);
    EXPECT_EQ(process.Await(), 0) << process.output();
    EXPECT_THAT(process.output(),
                ContainsRegex("all begin again after round [0-9]+ .1 of --max-restarts=2"));
    EXPECT_THAT(process.output(), HasSubstr("finished after 4000 rounds"));
    EXPECT_LT(double{SummaryOf(out).at("train_loss")}, 0.1);
  }
}

TEST(Checkpoints, ARunWithoutRoundsThatIsKilledGoesOn) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  {
    std::vector<std::string> command = Checkpointed(run, 3000);
    command.push_back("--algorithm=adpsgd");
    GrapevineProcess process(command);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << process.output();
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  const Ended resumed = RunGrapevine({"train", "--resume=" + run});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output,
              AllOf(HasSubstr("goes on after round "), HasSubstr("finished after 3000 rounds")));
  EXPECT_LT(double{SummaryOf(run).at("train_loss")}, 0.1);
}

TEST(Checkpoints, ARunWithoutOneDoesNotBeginAgain) {
  const ScratchFolder folder;
  std::vector<std::string> command = Checkpointed(folder.File("run"), 1500, "1400");
  command.insert(command.end(), {"--chaos=kill:at=round:100:rank=1", "--max-restarts=2"});
  const Ended run = RunGrapevine(command);
  EXPECT_EQ(run.exit_code, kPeerLost) << run.output;
  EXPECT_THAT(run.output, Not(HasSubstr("begin again")));
}

TEST(Checkpoints, ARunThatSavesByTheTimeGoesOnAsIfItHadNeverStopped) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), killed = folder.File("killed");
  ASSERT_EQ(RunGrapevine(Checkpointed(whole)).exit_code, 0);
  {
    GrapevineProcess process(Checkpointed(killed, 1500, "1ms"));
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(killed); })) << process.output();
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  const Ended resumed = RunGrapevine({"train", "--resume=" + killed, "--checkpoint-every=20"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("goes on after round "));
  ExpectSameFiles(killed, whole);
}

// Kills all of a run's processes at once when it has a checkpoint; or, once one node has died, when
// it has one of those who go on.
void KillWithCheckpoint(const std::vector<std::string>& command, const std::string& run,
                        int first_to_die = -1) {
  GrapevineProcess process(command);
  ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << process.output();
  if (first_to_die >= 0) {
    kill(process.Node(first_to_die), SIGKILL);
    ASSERT_TRUE(process.AwaitOutput("nodes go on")) << process.output();
    ASSERT_TRUE(Eventually([&] { return LastManifest(run).find("members") != std::string::npos; }))
        << process.output();
  }
  for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
  process.Await();
  ASSERT_TRUE(process.AwaitNobody());
}

TEST(OtherNodes, ARunThatIsKilledGoesOnWithMoreOrFewer) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  KillWithCheckpoint(Checkpointed(run, 400), run);
  for (const int nodes : {5, 2}) {
    const Ended resumed = RunGrapevine(
        {"train", "--resume=" + run, "-n", std::to_string(nodes), "--checkpoint-every=50"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_THAT(resumed.output,
                AllOf(HasSubstr(std::to_string(nodes) + " begin at the mean of its models"),
                      HasSubstr("stay as planned for 3 nodes: 400 rounds, now ")));
    const auto summary = SummaryOf(run);
    EXPECT_EQ(summary.at("nodes"), nodes);
    EXPECT_EQ(summary.at("rounds"), 400);
    EXPECT_GT(summary.at("test_accuracy").get<double>(), 0.5);
    const std::string settings = FileText(run + "/config.textproto");
    EXPECT_THAT(settings,
                AllOf(HasSubstr("nodes: " + std::to_string(nodes)), HasSubstr("planned_nodes: 3")));
    // The next one goes on from what these nodes have saved, as if its results were not there.
    std::filesystem::remove(run + "/summary.json");
  }
  const Ended other = RunGrapevine({"train", "--resume=" + run, "-n", "4", "--lr=0.7"});
  EXPECT_EQ(other.exit_code, kUsage) << other.output;
  EXPECT_THAT(other.output, HasSubstr("--lr was "));
}

TEST(OtherNodes, ASimulationGoesOnWithMoreOnAGraphOfTheirs) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  std::vector<std::string> arguments = Checkpointed(run, 100);
  arguments[0] = "sim";
  arguments.push_back("--compute=1ms");
  ASSERT_EQ(RunGrapevine(arguments).exit_code, 0);
  const std::string resume = "--resume=" + run + "/checkpoints/round-80";
  const Ended other = RunGrapevine({"sim", resume, "-n", "6", "--topology=torus:2x2"});
  EXPECT_EQ(other.exit_code, kUsage) << other.output;
  EXPECT_THAT(other.output, HasSubstr("--topology=torus:2x2: not for 6 nodes"));
  const Ended resumed = RunGrapevine({"sim", resume, "-n", "6", "--topology=torus:2x3"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, AllOf(HasSubstr("6 begin at the mean of its models"),
                                    HasSubstr("stay as planned for 3 nodes: 100 rounds, now ")));
  EXPECT_EQ(SummaryOf(run).at("nodes"), 6);
}

TEST(OtherNodes, ARunThatHasLostOneAndIsKilledGoesOn) {
  for (const std::string nodes : {"3", "2"}) {
    const ScratchFolder folder;
    const std::string run = folder.File("run");
    std::vector<std::string> command = Checkpointed(run, 100000);
    command.push_back("--on-failure=shrink");
    KillWithCheckpoint(command, run, /*first_to_die=*/1);
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_THAT(LastManifest(run),
                AllOf(HasSubstr("members: 0\nmembers: 2\n"), HasSubstr("model {")));
    GrapevineProcess resumed({"train", "--resume=" + run, "-n", nodes});
    EXPECT_TRUE(resumed.AwaitOutput("its checkpoint is of 2 nodes: " + nodes + " begin at"))
        << resumed.output();
    EXPECT_TRUE(Eventually([&] {
      return LastManifest(run).find("history") != std::string::npos &&
             LastManifest(run).find("members") == std::string::npos;
    })) << resumed.output();
    resumed.Signal(SIGINT);
    EXPECT_EQ(resumed.Await(), kInterrupted) << resumed.output();
  }
}

// Its role moves with the checkpoints; again in the run that goes on from them.
TEST(OtherNodes, ARunThatHasLostRankZeroKeepsCheckpointsAndGoesOn) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  std::vector<std::string> command = Checkpointed(run, 100000);
  command.push_back("--on-failure=shrink");
  const auto lose_rank_zero = [&run](GrapevineProcess& process) {
    kill(process.Node(0), SIGKILL);
    ASSERT_TRUE(process.AwaitOutput("has the role of rank 0 now; 2 of 3 nodes go on"))
        << process.output();
    ASSERT_TRUE(Eventually([&] {
      return LastManifest(run).find("members: 1\nmembers: 2\n") != std::string::npos;
    })) << process.output();
  };
  {
    GrapevineProcess process(command);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << process.output();
    lose_rank_zero(process);
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  if (::testing::Test::HasFatalFailure()) return;
  GrapevineProcess resumed({"train", "--resume=" + run});
  ASSERT_TRUE(Eventually([&] { return LastManifest(run).find("members") == std::string::npos; }))
      << resumed.output();
  lose_rank_zero(resumed);
  const int last = LastRound(run);
  EXPECT_TRUE(Eventually([&] { return LastRound(run) > last; })) << resumed.output();
  resumed.Signal(SIGINT);
  EXPECT_EQ(resumed.Await(), kInterrupted) << resumed.output();
  int64_t before = 0;
  for (const auto& line : JsonLines(run + "/metrics.jsonl")) {
    EXPECT_GE(line.at("bytes_sent_total").get<int64_t>(), before) << line;
    before = line.at("bytes_sent_total");
  }
}

TEST(OtherNodes, ARunWhoseLostOneIsBackIsKilledAndGoesOn) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  std::vector<std::string> command = Checkpointed(run, 100000);
  for (const char* flag : {"--on-failure=shrink", "--chaos=kill:rank=1:at=round:30:back=300ms"}) {
    command.push_back(flag);
  }
  GrapevineProcess first(command);
  ASSERT_TRUE(first.AwaitOutput("; 3 of 3 nodes go on")) << first.output();
  ASSERT_TRUE(Eventually([&] {
    return LastManifest(run).find("members: 0\nmembers: 1\nmembers: 2\n") != std::string::npos;
  })) << first.output();
  first.Signal(SIGKILL);
  first.Await();
  EXPECT_TRUE(first.AwaitNobody());
  GrapevineProcess resumed({"train", "--resume=" + run, "--max-restarts=1"});
  EXPECT_TRUE(resumed.AwaitOutput("goes on after round ")) << resumed.output();
  EXPECT_TRUE(Eventually([&] { return LastManifest(run).find("members") == std::string::npos; }))
      << resumed.output();
  // Others come into a run that goes on, too.
  kill(resumed.Node(2), SIGKILL);
  EXPECT_TRUE(resumed.AwaitOutput("; 3 of 3 nodes go on")) << resumed.output();
  EXPECT_TRUE(Eventually([&] {
    return LastManifest(run).find("members: 0\nmembers: 1\nmembers: 2\n") != std::string::npos;
  })) << resumed.output();
  resumed.Signal(SIGINT);
  EXPECT_EQ(resumed.Await(), kInterrupted) << resumed.output();
}

// Nothing but the signal saves: the time is not over before.
std::vector<std::string> SavedAtTheEnd(const std::string& out) {
  return Checkpointed(out, 1500, "10h");
}

bool HasMeasured(const std::string& run) { return !FileText(run + "/metrics.jsonl").empty(); }

void ExpectToGoOn(const std::string& stopped, const std::string& whole) {
  EXPECT_FALSE(std::filesystem::exists(stopped + "/summary.json")) << "it was over already";
  ASSERT_EQ(RunGrapevine(Checkpointed(whole)).exit_code, 0);
  const Ended resumed = RunGrapevine({"train", "--resume=" + stopped, "--checkpoint-every=20"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("goes on after round "));
  ExpectSameFiles(stopped, whole);
}

TEST(Termination, OfTheLauncherSavesFirst) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  {
    GrapevineProcess process(SavedAtTheEnd(run));
    ASSERT_TRUE(Eventually([&] { return HasMeasured(run); })) << process.output();
    process.Signal(SIGTERM);
    EXPECT_EQ(process.Await(), kTerminated) << process.output();
    EXPECT_TRUE(process.AwaitNobody());
    EXPECT_THAT(process.output(),
                AllOf(HasSubstr("grapevine train: ended by signal 15, Terminated; "
                                "--resume=" +
                                run + " goes on after round "),
                      Not(HasSubstr("grapevine node"))));
  }
  ExpectToGoOn(run, folder.File("whole"));
}

// As Slurm tells all processes of a job that it will requeue, and maybe again right away: nodes
// hear of it from their launcher, too.
TEST(Termination, OfAllProcessesSavesFirst) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  {
    GrapevineProcess process(SavedAtTheEnd(run));
    ASSERT_TRUE(Eventually([&] { return HasMeasured(run); })) << process.output();
    const std::vector<pid_t> all = process.Alive();
    for (int time = 0; time < 2; ++time) {
      for (const pid_t pid : all) kill(pid, SIGTERM);
    }
    EXPECT_EQ(process.Await(), kTerminated) << process.output();
    EXPECT_TRUE(process.AwaitNobody());
    EXPECT_THAT(process.output(), HasSubstr(" goes on after round "));
  }
  ExpectToGoOn(run, folder.File("whole"));
}

TEST(Termination, OfASimulationSavesFirst) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  std::vector<std::string> arguments = SavedAtTheEnd(run);
  arguments[0] = "sim";
  arguments.push_back("--compute=1ms");
  {
    GrapevineProcess process(arguments);
    ASSERT_TRUE(Eventually([&] { return HasMeasured(run); })) << process.output();
    process.Signal(SIGTERM);
    EXPECT_EQ(process.Await(), kTerminated) << process.output();
    EXPECT_THAT(process.output(), AllOf(HasSubstr(" is complete; terminated (SIGTERM); --resume="),
                                        HasSubstr(" goes on after round ")));
  }
  const Ended resumed = RunGrapevine({"sim", "--resume=" + run});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  const std::string whole = folder.File("whole");
  arguments = SavedAtTheEnd(whole);
  arguments[0] = "sim";
  arguments.push_back("--compute=1ms");
  ASSERT_EQ(RunGrapevine(arguments).exit_code, 0);
  EXPECT_TRUE(FileText(run + "/model.safetensors") == FileText(whole + "/model.safetensors"));
}

// A node that is stopped gives no part: the checkpoint cannot be complete.
TEST(Termination, ThatIsFollowedByAKillGoesOnFromTheCheckpointBefore) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  {
    GrapevineProcess process(Checkpointed(run));
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << process.output();
    kill(process.Node(2), SIGSTOP);
    kill(process.Node(1), SIGTERM);
    EXPECT_TRUE(process.AwaitOutput("the run ends with its next checkpoint; rank 1 at 127.0.0.1"))
        << process.output();
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  ExpectToGoOn(run, folder.File("whole"));
}

TEST(Checkpoints, ARunThatIsInterruptedSaysHowItGoesOn) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  {
    GrapevineProcess process(Checkpointed(run, 100000));
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << process.output();
    kill(process.pid(), SIGINT);
    EXPECT_EQ(process.Await(), kInterrupted);
    EXPECT_THAT(process.output(), HasSubstr("; --resume=" + run + " goes on after round "));
  }
  const Ended other = RunGrapevine({"train", "--resume=" + run, "--lr=0.5", "--seed=9"});
  EXPECT_EQ(other.exit_code, kUsage) << other.output;
  EXPECT_THAT(other.output, AllOf(HasSubstr("--seed was 1 and is 9"), HasSubstr("--lr was "),
                                  Not(HasSubstr("run directory:"))));
  const Ended same = RunGrapevine(Checkpointed(run));
  EXPECT_EQ(same.exit_code, kOutput) << same.output;
  EXPECT_THAT(same.output, HasSubstr("--resume=" + run));
}

// Its last checkpoint is not of its last round: to go on from there is to do rounds again, and that
// has to be asked for. What is killed then has no results of rounds that it has not done.
TEST(Checkpoints, ARunThatHasResultsIsOver) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), run = folder.File("run");
  for (const std::string& out : {whole, run}) {
    const Ended ended = RunGrapevine(Checkpointed(out, 3000, "700"));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
  }
  ASSERT_EQ(LastRound(run), 2800);
  const Ended again = RunGrapevine({"train", "--resume=" + run});
  EXPECT_EQ(again.exit_code, kUsage) << again.output;
  EXPECT_THAT(again.output, HasSubstr("--resume=" + run +
                                      ": the run is over: all its 3000 rounds are done; its "
                                      "results are in " +
                                      run));
  EXPECT_TRUE(std::filesystem::exists(run + "/summary.json"));
  {
    GrapevineProcess process({"train", "--resume=" + run + "/checkpoints/round-2100"});
    ASSERT_TRUE(Eventually([&] { return !std::filesystem::exists(run + "/summary.json"); }))
        << process.output();
    for (const pid_t pid : process.Alive()) kill(pid, SIGKILL);
    process.Await();
    ASSERT_TRUE(process.AwaitNobody());
  }
  EXPECT_FALSE(std::filesystem::exists(run + "/summary.json"));
  const Ended resumed = RunGrapevine({"train", "--resume=" + run});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  for (const char* file : {"/model.safetensors", "/node-2/model.safetensors"}) {
    EXPECT_TRUE(FileText(run + file) == FileText(whole + file)) << file;
  }
  EXPECT_EQ(SummaryOf(run).at("rounds"), 3000);
}

// Not by going on from the same.
TEST(Checkpoints, ASimulationGoesOnOtherwiseThanFromADamagedPart) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const std::vector<std::string> arguments = {"sim",
                                              "-n",
                                              "4",
                                              "--model=softmax",
                                              "--data=synthetic:train=512:test=200",
                                              "--rounds=20",
                                              "--compute=1ms",
                                              "--checkpoint-every=5"};
  const auto with = [&arguments](const std::string& flag) {
    std::vector<std::string> all = arguments;
    all.push_back(flag);
    return all;
  };
  ASSERT_EQ(RunGrapevine(with("--out=" + run)).exit_code, 0);
  std::filesystem::remove(run + "/summary.json");
  const std::string part = run + "/checkpoints/round-15/node-2.safetensors";
  std::filesystem::remove_all(run + "/checkpoints/round-20");
  std::fstream(part, std::ios::in | std::ios::out | std::ios::binary).seekp(-4, std::ios::end)
      << "xxxx";
  const Ended ended = RunGrapevine(with("--resume=" + run));
  EXPECT_EQ(ended.exit_code, kInput) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr(part + ": is not what was written"),
                                  HasSubstr("the checkpoint of round 15 is damaged"),
                                  Not(HasSubstr("; --resume=" + run + " goes on"))));
}

TEST(Checkpoints, AFolderThatIsNoRunIsRefused) {
  const ScratchFolder folder;
  for (const std::string& path : {folder.File("nothing"), folder.path()}) {
    for (const char* command : {"train", "sim"}) {
      const Ended ended = RunGrapevine({command, "--resume=" + path});
      EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
      EXPECT_THAT(ended.output, HasSubstr("--resume=" + path + ": is no run directory"));
    }
  }
}

// Neither a second run nor one that goes on from its checkpoints may write between its lines.
TEST(Checkpoints, ARunDirectoryIsWrittenByOneProcessAtATime) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  GrapevineProcess holder(Checkpointed(run, 100000));
  ASSERT_TRUE(Eventually([&] { return HasCheckpoint(run); })) << holder.output();
  std::vector<std::string> overwriting = Checkpointed(run), node = overwriting;
  overwriting.push_back("--overwrite");
  std::vector<std::string> simulated = overwriting;
  simulated[0] = "sim";
  node[0] = "node";
  node.insert(node.end(), {"--rank=0", "--world-size=3", "--master-addr=127.0.0.1",
                           "--master-port=" + std::to_string(FreePort())});
  for (const std::vector<std::string>& second :
       {{"train", "--resume=" + run}, overwriting, simulated, node}) {
    const Ended refused = RunGrapevine(second);
    EXPECT_EQ(refused.exit_code, kOutput) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(run + " is being written by process " +
                                          std::to_string(holder.pid()) + " on "));
  }
  EXPECT_TRUE(HasCheckpoint(run)) << "nothing of it was removed";
  EXPECT_FALSE(holder.Alive().empty()) << holder.output();
}

// Three nodes, each on a disk of its own, as on hosts that share none.
class OwnDisks {
 public:
  using Nodes = std::vector<std::unique_ptr<GrapevineProcess>>;

  std::string Of(int rank) const { return folder_.File("disk-" + std::to_string(rank)); }
  Nodes Start(bool resume, const std::string& every = "20") const {
    const std::string port = std::to_string(FreePort());
    Nodes nodes;
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<std::string> arguments = Checkpointed(Of(rank), 1500, every);
      arguments[0] = "node";
      if (resume) arguments.back() = "--resume=" + Of(rank);
      const std::vector<std::string> place{"--rank=" + std::to_string(rank), "--world-size=3",
                                           "--master-addr=127.0.0.1", "--master-port=" + port};
      arguments.insert(arguments.end(), place.begin(), place.end());
      nodes.push_back(std::make_unique<GrapevineProcess>(arguments));
    }
    return nodes;
  }
  // Goes on with two nodes on these disks.
  std::vector<Ended> RunAll(const std::vector<int>& on) const {
    const std::string port = std::to_string(FreePort());
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    for (size_t rank = 0; rank < on.size(); ++rank) {
      std::vector<std::string> arguments = Checkpointed(Of(on[rank]), 1500);
      arguments[0] = "node";
      arguments[2] = std::to_string(on.size());
      arguments.back() = "--resume=" + Of(on[rank]);
      arguments.insert(arguments.end(), {"--planned-nodes=3", "--rendezvous-timeout=10s",
                                         "--rank=" + std::to_string(rank),
                                         "--world-size=" + std::to_string(on.size()),
                                         "--master-addr=127.0.0.1", "--master-port=" + port});
      nodes.push_back(std::make_unique<GrapevineProcess>(arguments));
    }
    std::vector<Ended> ended;
    for (const auto& node : nodes) {
      const int exit_code = node->Await();
      ended.push_back({exit_code, node->output()});
    }
    return ended;
  }
  void ExpectToGoOn() const {
    Nodes nodes = Start(/*resume=*/true);
    for (const auto& node : nodes) EXPECT_EQ(node->Await(), 0) << node->output();
    const std::string whole = folder_.File("whole");
    ASSERT_EQ(RunGrapevine(Checkpointed(whole)).exit_code, 0);
    EXPECT_TRUE(FileText(Of(0) + "/model.safetensors") == FileText(whole + "/model.safetensors"));
    for (const char* file :
         {"/node-2/model.safetensors", "/checkpoints/round-1500/node-2.safetensors",
          "/checkpoints/round-1480/node-2.safetensors"}) {
      EXPECT_TRUE(FileText(Of(2) + file) == FileText(whole + file)) << file;
    }
  }

 private:
  const ScratchFolder folder_;
};

TEST(Checkpoints, NodesWithDirectoriesOfTheirOwnGoOnFromTheirOwnParts) {
  const OwnDisks disks;
  {
    const OwnDisks::Nodes nodes = disks.Start(/*resume=*/false);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(disks.Of(0)); })) << nodes[0]->output();
    for (const auto& node : nodes) kill(node->pid(), SIGKILL);
    for (const auto& node : nodes) node->Await();
  }
  EXPECT_FALSE(HasCheckpoint(disks.Of(1)));
  disks.ExpectToGoOn();
  EXPECT_FALSE(std::filesystem::exists(disks.Of(2) + "/checkpoints/round-200"));
}

// Its parts are put together by hand; then each has a copy, as one that is new has none of its own.
TEST(OtherNodes, OnDisksOfTheirOwnGoOnFromCopies) {
  const OwnDisks disks;
  {
    const OwnDisks::Nodes nodes = disks.Start(/*resume=*/false);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(disks.Of(0)); })) << nodes[0]->output();
    for (const auto& node : nodes) kill(node->pid(), SIGKILL);
    for (const auto& node : nodes) node->Await();
  }
  namespace fs = std::filesystem;
  for (const auto& round : fs::directory_iterator(disks.Of(0) + "/checkpoints")) {
    for (const int rank : {1, 2}) {
      const std::string part = round.path().filename().string() + "/node-" + std::to_string(rank);
      const std::string from = disks.Of(rank) + "/checkpoints/" + part + ".safetensors";
      if (fs::exists(from)) fs::copy(from, round.path());
    }
  }
  const Ended alone = disks.RunAll({0, 1}).back();
  EXPECT_NE(alone.exit_code, 0);
  EXPECT_THAT(alone.output,
              AllOf(HasSubstr("the run goes on from the mean of the models in the checkpoint of "
                              "round "),
                    HasSubstr("it does not have that; give it a --resume=DIR with the same")));
  fs::remove_all(disks.Of(1) + "/checkpoints");
  fs::copy(disks.Of(0) + "/checkpoints", disks.Of(1) + "/checkpoints", fs::copy_options::recursive);
  for (const Ended& node : disks.RunAll({0, 1})) EXPECT_EQ(node.exit_code, 0) << node.output;
}

// A spot instance's notice.
TEST(Termination, OfOneNodeEndsAllWithACheckpoint) {
  const OwnDisks disks;
  {
    const OwnDisks::Nodes nodes = disks.Start(/*resume=*/false, "10h");
    ASSERT_TRUE(Eventually([&] { return HasMeasured(disks.Of(0)); })) << nodes[0]->output();
    nodes[1]->Signal(SIGTERM);
    for (const auto& node : nodes) {
      EXPECT_EQ(node->Await(), kTerminated) << node->output();
      EXPECT_THAT(node->output(),
                  ContainsRegex("the checkpoint of round [0-9]+ is complete; rank 1 "
                                "at 127.0.0.1:[0-9]+: terminated .SIGTERM."));
    }
    EXPECT_THAT(nodes[0]->output(), HasSubstr("--resume=" + disks.Of(0) + " goes on after round "));
  }
  disks.ExpectToGoOn();
}

TEST(Termination, OfANodeForTheSecondTimeEndsItAtOnce) {
  const OwnDisks disks;
  const OwnDisks::Nodes nodes = disks.Start(/*resume=*/false, "10h");
  ASSERT_TRUE(Eventually([&] { return HasMeasured(disks.Of(0)); })) << nodes[0]->output();
  nodes[2]->Signal(SIGSTOP);
  nodes[0]->Signal(SIGTERM);
  ASSERT_TRUE(nodes[0]->AwaitOutput("the run ends with its next checkpoint; rank 0 at 127.0.0.1"))
      << nodes[0]->output();
  // One that comes right away is the first one's echo.
  EXPECT_TRUE(Eventually([&] {
    nodes[0]->Signal(SIGTERM);
    return nodes[0]->Alive().empty();
  })) << nodes[0]->output();
  EXPECT_EQ(nodes[0]->Await(), kTerminated) << nodes[0]->output();
  EXPECT_THAT(nodes[0]->output(), Not(HasSubstr("grapevine node: "))) << "it did not wait";
  EXPECT_FALSE(HasCheckpoint(disks.Of(0)));
}

TEST(Termination, OfASimulationWithoutCheckpointsEndsItAtOnce) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  std::vector<std::string> arguments = SavedAtTheEnd(run);
  std::erase(arguments, "--checkpoint-every=10h");
  arguments[0] = "sim";
  arguments.push_back("--compute=1ms");
  GrapevineProcess process(arguments);
  ASSERT_TRUE(Eventually([&] { return HasMeasured(run); })) << process.output();
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Await(), kTerminated) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("grapevine sim: interrupted"));
}

}  // namespace
}  // namespace grapevine::testing
