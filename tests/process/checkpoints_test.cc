// Real runs of processes that are killed and go on from their checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Checkpointed(const std::string& out, int rounds = 1500) {
  return {"train",
          "-n",
          "3",
          "--model=softmax",
          "--data=synthetic:train=512:test=64",
          "--batch=8",
          "--rounds=" + std::to_string(rounds),
          "--eval-every=5",
          "--momentum=0.9",
          "--checkpoint-every=20",
          "--out=" + out};
}

bool HasCheckpoint(const std::string& run) {
  const std::filesystem::path folder = run + "/checkpoints";
  if (!std::filesystem::exists(folder)) return false;
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
    return std::filesystem::exists(entry.path() / "manifest.textproto");
  });
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

// Each on a disk of its own, as on hosts that share none.
TEST(Checkpoints, NodesWithDirectoriesOfTheirOwnGoOnFromTheirOwnParts) {
  const ScratchFolder folder;
  const auto run = [&](bool resume) {
    const std::string port = std::to_string(FreePort());
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    for (int rank = 0; rank < 3; ++rank) {
      const std::string out = folder.File("disk-" + std::to_string(rank));
      std::vector<std::string> arguments = Checkpointed(out);
      arguments[0] = "node";
      if (resume) arguments.back() = "--resume=" + out;
      const std::vector<std::string> place{"--rank=" + std::to_string(rank), "--world-size=3",
                                           "--master-addr=127.0.0.1", "--master-port=" + port};
      arguments.insert(arguments.end(), place.begin(), place.end());
      nodes.push_back(std::make_unique<GrapevineProcess>(arguments));
    }
    return nodes;
  };
  {
    auto nodes = run(false);
    ASSERT_TRUE(Eventually([&] { return HasCheckpoint(folder.File("disk-0")); }))
        << nodes[0]->output();
    for (const auto& node : nodes) kill(node->pid(), SIGKILL);
    for (const auto& node : nodes) node->Await();
  }
  EXPECT_FALSE(HasCheckpoint(folder.File("disk-1")));
  auto nodes = run(true);
  for (const auto& node : nodes) EXPECT_EQ(node->Await(), 0) << node->output();

  const std::string whole = folder.File("whole");
  ASSERT_EQ(RunGrapevine(Checkpointed(whole)).exit_code, 0);
  EXPECT_TRUE(FileText(folder.File("disk-0/model.safetensors")) ==
              FileText(whole + "/model.safetensors"));
  for (const char* file :
       {"/node-2/model.safetensors", "/checkpoints/round-1500/node-2.safetensors",
        "/checkpoints/round-1480/node-2.safetensors"}) {
    EXPECT_TRUE(FileText(folder.File("disk-2") + file) == FileText(whole + file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("disk-2/checkpoints/round-200")));
}

}  // namespace
}  // namespace grapevine::testing
