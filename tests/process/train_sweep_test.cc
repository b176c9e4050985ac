// `grapevine train` with lists: one run after another, in one folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/file_descriptor.h"
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

namespace fs = std::filesystem;

// A pipe that is full: whoever writes to it waits until it is read.
class FullPipe {
 public:
  explicit FullPipe(const std::string& path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0) << path;
    pipe_ = UniqueDescriptor(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    const std::string page(4096, '.');
    while (write(pipe_.get(), page.data(), page.size()) > 0) {
    }
  }

  void Drain() const {
    char page[4096];
    while (read(pipe_.get(), page, sizeof(page)) > 0) {
    }
  }

 private:
  UniqueDescriptor pipe_;
};

bool Blocks(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string name, value; status >> name && std::getline(status, value);) {
    if (name == "SigBlk:") return (std::stoull(value, nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

std::vector<std::string> Timed(const std::string& out, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"train", "-n", "2", "--model=phantom:10kB", "--compute=20ms",
                               "--log-every=1", "--out=" + out});
  return flags;
}

TEST(TrainSweep, FillsAFolderAndATable) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const std::vector<std::string> sweep = {"train",
                                          "-n",
                                          "2",
                                          "--model=softmax",
                                          "--data=synthetic:train=256:test=100",
                                          "--rounds=6",
                                          "--batch=4,8",
                                          "--lr=0.05,-1",
                                          "--out=" + out};
  std::vector<std::string> refused = sweep;
  EXPECT_THAT(RunGrapevine(refused).output, HasSubstr("--lr=-1: must be positive"));
  EXPECT_FALSE(fs::exists(out));
  std::vector<std::string> good = sweep;
  good[7] = "--lr=0.05,0.1";
  const Ended ended = RunGrapevine(good);
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("4 cells, one after the other, in " + out),
                                  HasSubstr("run directory: " + out + "/batch=8_lr=0.1"),
                                  HasSubstr("table: " + out + "/sweep.csv")));
  const std::string csv = FileText(out + "/sweep.csv");
  EXPECT_THAT(csv, StartsWith("batch,lr,rounds,epochs,simulated_time_s,wall_time_s,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_THAT(csv, HasSubstr("\n8,0.1,6,"));
  const auto summary = SummaryOf(out + "/batch=8_lr=0.1");
  EXPECT_EQ(summary["rounds"], 6);
  EXPECT_TRUE(fs::exists(out + "/batch=4_lr=0.05/node-1/metrics.jsonl"));

  // The same again finds all done, another is refused.
  const Ended again = RunGrapevine(good);
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, Not(HasSubstr("run directory")));
  EXPECT_EQ(FileText(out + "/sweep.csv"), csv);
  good[6] = "--batch=4,16";
  const Ended other = RunGrapevine(good);
  EXPECT_EQ(other.exit_code, kOutput);
  EXPECT_THAT(other.output, HasSubstr("holds another sweep (`# --batch=4,16` is not in it)"));
}

TEST(TrainSweep, AnInterruptedOneLosesNothingAndGoesOn) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const std::vector<std::string> sweep = Timed(out, {"--rounds=3,400,5"});
  const auto summary = [&out](const std::string& rounds) {
    return out + "/rounds=" + rounds + "/summary.json";
  };
  GrapevineProcess process(sweep);
  ASSERT_TRUE(process.AwaitOutput("/400 ")) << process.output();
  process.Signal(SIGINT);
  EXPECT_EQ(process.Await(), 128 + SIGINT) << process.output();
  EXPECT_TRUE(process.AwaitNobody());
  EXPECT_THAT(process.output(), HasSubstr("interrupted; 2 of 3 cells are left, and the same "
                                          "command with --out=" +
                                          out + " resumes the sweep"));
  EXPECT_TRUE(fs::exists(summary("3")));
  EXPECT_FALSE(fs::exists(summary("400")));
  EXPECT_FALSE(fs::exists(out + "/rounds=5")) << "nothing begins after the interruption";
  const auto written = fs::last_write_time(summary("3"));

  const Ended again = RunGrapevine(sweep);
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, Not(HasSubstr("rounds=3\n")));
  EXPECT_EQ(fs::last_write_time(summary("3")), written);
  EXPECT_EQ(JsonOf(FileText(summary("400")))["rounds"], 400);
  EXPECT_TRUE(fs::exists(summary("5")));
}

// No cell gets as far as a launcher, and none begins before the signal: what is said first waits.
TEST(TrainSweep, IsInterruptedBeforeALaunchToo) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const FullPipe pipe(folder.File("pipe"));
  GrapevineProcess process({"train", "-n", "2", "--model=softmax", "--compute=1ms",
                            "--data=synthetic:train=256:test=100", "--rounds=3,4", "--out=" + out},
                           {.standard_output = folder.File("pipe")});
  ASSERT_TRUE(Eventually([&] { return Blocks(process.pid(), SIGTERM); })) << process.output();
  process.Signal(SIGTERM);
  EXPECT_TRUE(Eventually([&] {
    pipe.Drain();
    return process.Alive().empty();
  }));
  EXPECT_EQ(process.Await(), 128 + SIGTERM) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("interrupted; 2 of 2 cells are left, and the same "
                                          "command with --out=" +
                                          out + " resumes the sweep"));
}

TEST(TrainSweep, ARunThatFailsDoesNotEndTheOthers) {
  const ScratchFolder folder;
  const std::string out = folder.File("sweep");
  const Ended ended =
      RunGrapevine(Timed(out, {"--rounds=3", "--topology=hypercube,ring", "--nodes=3,2"}));
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output,
              HasSubstr("1 of 4 cells failed; the first, nodes=3_topology=hypercube: "));
  EXPECT_TRUE(fs::exists(out + "/nodes=2_topology=hypercube/summary.json"));
  EXPECT_TRUE(fs::exists(out + "/nodes=3_topology=ring/summary.json"));
}

TEST(TrainSweep, FilesOfOneRunAreRefused) {
  const ScratchFolder folder;
  for (const std::string name : {"trace", "record", "profile"}) {
    // Times that are made up are not measured.
    const Ended ended =
        RunGrapevine({"train", "-n", "2", "--model=softmax", "--rounds=3,4",
                      "--out=" + folder.File("sweep"), "--" + name + "=" + folder.File(name)});
    EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("--" + name + "=" + folder.File(name) + ": a " + name +
                                        " is of one run, not of a sweep of 2 cells"));
    EXPECT_FALSE(fs::exists(folder.File("sweep")));
  }
}

TEST(TrainSweep, ADryRunStartsNothing) {
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine(Timed(folder.File("sweep"), {"--rounds=3,4,5", "--seed=1,2", "--dry-run"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("... and 5 more cells"));
  EXPECT_FALSE(fs::exists(folder.File("sweep")));
}

}  // namespace
}  // namespace grapevine::testing
