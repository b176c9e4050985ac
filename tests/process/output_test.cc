// What the program does when what it writes has no room, no reader or no place.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "system/file_descriptor.h"
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
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kTiny = {
    "train", "-n", "2", "--model=softmax", "--data=synthetic:train=64:test=20", "--batch=8"};

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Output, AFullStandardOutputIsAnError) {
  const ScratchFolder folder;
  ASSERT_EQ(RunGrapevine(With(kTiny, {"--rounds=2", "--out=" + folder.File("run")})).exit_code, 0);
  const std::vector<std::vector<std::string>> commands = {
      {"version"},
      {"--version"},
      {"train", "--help"},
      {"topology"},
      {"train", "--dry-run", "--out=" + folder.File("dry")},
      With(kTiny, {"--rounds=2", "--out=" + folder.File("full")}),
      {"sim", "--model=phantom:100kB", "--compute=1ms", "--rounds=5",
       "--out=" + folder.File("sim")},
      {"sim", "--model=phantom:100kB", "--compute=1ms", "--rounds=5", "--topology=ring,torus",
       "--out=" + folder.File("sweep")},
      {"eval", folder.File("run/model.safetensors"), "--data=synthetic:train=64:test=20"},
      {"plot", folder.File("run"), "-o", folder.File("plot.svg")},
      {"plot", folder.File("run"), "--format=csv"},
      {"compare", folder.File("run")}};
  for (const std::vector<std::string>& command : commands) {
    const Ended ended = RunGrapevine(command, {.standard_output = "/dev/full"});
    SCOPED_TRACE(::testing::PrintToString(command));
    EXPECT_EQ(ended.exit_code, kOutput) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("cannot write to the standard output"));
  }
  // Said before the nodes are started.
  EXPECT_FALSE(std::filesystem::exists(folder.File("full/summary.json")));
}

// What exists and is no file must stay what it is, and be named before any work.
TEST(Output, RecordingsReplaceNothingButFiles) {
  const ScratchFolder folder;
  const std::string fifo = folder.File("fifo"), inside = folder.File("folder"),
                    link = folder.File("link");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(mkdir(inside.c_str(), 0700), 0);
  std::filesystem::create_symlink("/dev/null", link);
  const std::vector<std::string> sim = {"sim", "--model=phantom:100kB", "--compute=1ms",
                                        "--rounds=5"};
  for (const std::string& path : {fifo, inside, link}) {
    for (const auto& command :
         {With(kTiny, {"--rounds=2", "--trace=" + path}),
          With(kTiny, {"--rounds=2", "--profile=" + path}),
          With(kTiny, {"--rounds=2", "--record=" + path}), With(sim, {"--trace=" + path})}) {
      for (const char* mode : {"--dry-run", "--log-level=warning"}) {
        const Ended ended = RunGrapevine(With(command, {mode, "--out=" + folder.File("run")}));
        SCOPED_TRACE(::testing::PrintToString(command) + mode);
        EXPECT_EQ(ended.exit_code, kOutput);
        EXPECT_THAT(ended.output, AllOf(HasSubstr(path), HasSubstr("not a regular file")));
        EXPECT_FALSE(std::filesystem::exists(folder.File("run")));
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_TRUE(std::filesystem::is_directory(inside));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(Output, ADryRunFindsFoldersThatAreMissing) {
  const ScratchFolder folder;
  const std::string path = folder.File("none/file");
  for (const std::string flag : {"--trace=", "--profile=", "--record="}) {
    const Ended ended = RunGrapevine(
        With(kTiny, {"--rounds=2", "--dry-run", flag + path, "--out=" + folder.File("run")}));
    EXPECT_EQ(ended.exit_code, kOutput);
    EXPECT_THAT(ended.output, HasSubstr(path));
  }
  const Ended swept =
      RunGrapevine({"sim", "--dry-run", "--topology=ring,torus", "--trace=" + folder.File("trace"),
                    "--model=phantom:1MB", "--compute=1ms", "--rounds=5"});
  EXPECT_EQ(swept.exit_code, kUsage);
  EXPECT_THAT(swept.output, HasSubstr("a trace is of one run, not of a sweep of 2 cells"));
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The other end of a terminal that is a program's standard output.
class Terminal {
 public:
  explicit Terminal(uint16_t columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    const winsize size{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    good_ = master_.get() >= 0 && grantpt(master_.get()) == 0 && unlockpt(master_.get()) == 0 &&
            ioctl(master_.get(), TIOCSWINSZ, &size) == 0;
  }
  bool good() const { return good_; }
  std::string path() const { return ptsname(master_.get()); }
  // All that is written until nobody has it open any more.
  std::string ReadAll() const {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(master_.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  const UniqueDescriptor master_;
  bool good_ = false;
};

// A gradient of rank 2 takes 4 s, once.
TEST(Output, ATerminalSaysWhoWaitsForLong) {
  const Terminal terminal(100);
  ASSERT_TRUE(terminal.good());
  const ScratchFolder folder;
  GrapevineProcess run(
      {"train", "-n", "4", "--model=phantom:1kB", "--compute=50ms", "--rounds=40",
       "--chaos=slow:rank=2:factor=80:at=round:10:for=2s", "--out=" + folder.File("run")},
      {.standard_output = terminal.path()});
  const std::string text = terminal.ReadAll();
  EXPECT_EQ(run.Await(), 0) << run.output();
  EXPECT_THAT(text, ContainsRegex("rank [13] waits for 2, round 1[0-9], [1-4]\\.[0-9]+ s"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, '\r');) {
    if (!Contains(line, "ETA")) continue;
    EXPECT_LE(line.size(), 99u + 3) << "the width, and what empties the line: " << line;
  }
}

TEST(Output, InJsonEveryLineIsAnObject) {
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine(With(kTiny, {"--rounds=2", "--log-format=json", "--log-level=info",
                                "--log-every=1", "--out=" + folder.File("run")}));
  EXPECT_EQ(ended.exit_code, 0);
  std::set<int> ranks;
  int measurements = 0;
  for (const nlohmann::json& object : JsonLinesOf(ended.output)) {
    EXPECT_TRUE(object.contains("time") && object.contains("level")) << object;
    if (object.contains("rank")) ranks.insert(object["rank"].get<int>());
    measurements += object.contains("metrics");
  }
  EXPECT_THAT(ranks, ElementsAre(0, 1));
  EXPECT_EQ(measurements, 2);
}

TEST(Output, InJsonErrorsAreObjectsToo) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "3", "--model=phantom:1MB", "--compute=5ms",
                        "--rounds=100000", "--log-format=json", "--on-failure=end",
                        "--out=" + folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("\"round\":3,")) << run.output();
  ASSERT_EQ(kill(run.Node(1), SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost);
  const std::vector<nlohmann::json> objects = JsonLinesOf(run.output());
  ASSERT_FALSE(objects.empty());
  EXPECT_EQ(objects.back()["level"], "error");
  EXPECT_THAT(objects.back()["message"].get<std::string>(),
              AllOf(StartsWith("grapevine train: rank 1"), HasSubstr("was killed by signal 9")));

  GrapevineProcess interrupted({"train", "-n", "3", "--model=phantom:1MB", "--compute=5ms",
                                "--rounds=100000", "--log-format=json",
                                "--out=" + folder.File("interrupted")});
  ASSERT_TRUE(interrupted.AwaitOutput("\"round\":3,")) << interrupted.output();
  interrupted.Signal(SIGINT);
  EXPECT_EQ(interrupted.Await(), 128 + SIGINT);
  EXPECT_THAT(interrupted.output(), Not(HasSubstr("grapevine node")));  // said once
}

TEST(Output, PlottingIsOfferedWhereThereIsSomethingToPlot) {
  const ScratchFolder folder;
  const Ended learner = RunGrapevine(With(kTiny, {"--rounds=2", "--out=" + folder.File("run")}));
  EXPECT_THAT(learner.output, HasSubstr("plot it: grapevine plot " + folder.File("run")));
  const Ended phantom = RunGrapevine({"train", "-n", "2", "--model=phantom:1kB", "--compute=1ms",
                                      "--rounds=3", "--out=" + folder.File("phantom")});
  EXPECT_EQ(phantom.exit_code, 0);
  EXPECT_THAT(phantom.output, Not(HasSubstr("plot it")));
  const Ended plot =
      RunGrapevine({"plot", folder.File("phantom"), "-o", folder.File("phantom.png")});
  EXPECT_EQ(plot.exit_code, kInput);
  EXPECT_THAT(plot.output, HasSubstr("--kind=step-time"));
}

TEST(Output, AFileThatMayNotGrowEndsTheRunAndHasWholeLines) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "2", "--model=phantom:1kB", "--compute=1us",
                        "--rounds=1000000", "--log-every=1", "--out=" + folder.File("run")},
                       {.largest_file = 20000});
  EXPECT_EQ(run.Await(), kOutput) << run.output();
  EXPECT_THAT(run.output(), AllOf(HasSubstr("metrics.jsonl"), HasSubstr("File too large")));
  for (const char* file :
       {"run/metrics.jsonl", "run/node-0/metrics.jsonl", "run/node-1/metrics.jsonl"}) {
    EXPECT_FALSE(JsonLinesOf(FileText(folder.File(file))).empty()) << file;
    EXPECT_THAT(FileText(folder.File(file)), EndsWith("}\n")) << file;
  }
}

// A node of a cluster, whose terminal nobody reads.
// The arguments of a run of one node, on a port of its own, with these besides.
std::vector<std::string> OneNode(const std::string& out, const std::vector<std::string>& others) {
  std::vector<std::string> arguments = {"node",
                                        "--rank=0",
                                        "--world-size=1",
                                        "--master-addr=127.0.0.1",
                                        "--master-port=" + std::to_string(FreePort()),
                                        "--insecure",
                                        "--model=phantom:1kB",
                                        "--log-every=1",
                                        "--out=" + out};
  arguments.insert(arguments.end(), others.begin(), others.end());
  return arguments;
}

TEST(Output, ALogThatNobodyReadsHoldsNoNodeUp) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  GrapevineProcess run(OneNode(out, {"--compute=1us", "--rounds=20000", "--log-level=debug"}));
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(out + "/summary.json"); }));
  EXPECT_EQ(run.Await(), 0) << run.output();
}

// Whether SIGTERM ends the process at once, as it does one that does not expect it.
bool EndsAtSigterm(pid_t process) {
  std::istringstream lines(FileText("/proc/" + std::to_string(process) + "/status"));
  const std::string blocked = "SigBlk:\t";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(blocked)) continue;
    return (std::stoull(line.substr(blocked.size()), nullptr, 16) >> (SIGTERM - 1) & 1) == 0;
  }
  return false;
}

// A run that is over waits for its reader, but not against the user's will.
TEST(Output, ASignalEndsANodeThatWaitsForItsReader) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  GrapevineProcess run(OneNode(out, {"--compute=1us", "--rounds=20000"}));
  ASSERT_TRUE(Eventually(
      [&] { return std::filesystem::exists(out + "/summary.json") && EndsAtSigterm(run.pid()); }));
  run.Signal(SIGTERM);
  EXPECT_EQ(run.Await(), 128 + SIGTERM);
}

// As on a file server that is down for a while. The run directory is there already, as
// from a launcher.
TEST(Output, AMetricsFileThatStallsHoldsNobodyUp) {
  const ScratchFolder folder;
  const std::string fifo = folder.File("run/metrics.jsonl");
  std::filesystem::create_directories(folder.File("run"));
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const UniqueDescriptor reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.open());
  GrapevineProcess run(
      OneNode(folder.File("run"), {"--compute=1ms", "--rounds=4000", "--peer-timeout=1s"}),
      {.environment = {{"GRAPEVINE_LAUNCHED", "1"}}});
  // The node goes on to its end, for longer than --peer-timeout, though what it measures has
  // no room in the pipe.
  const std::string own = folder.File("run/node-0/metrics.jsonl");
  ASSERT_TRUE(Eventually([&] {
    return std::filesystem::exists(own) && Contains(FileText(own), "\"round\":4000,");
  })) << run.output();
  std::string text;
  EXPECT_TRUE(Eventually([&] {
    char buffer[4096];
    ssize_t got;
    while ((got = read(reader.get(), buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<size_t>(got));
    }
    return Contains(text, "\"round\":4000,");
  })) << run.output();
  EXPECT_EQ(run.Await(), 0) << run.output();
  EXPECT_GT(text.size(), size_t{1} << 16);
  EXPECT_FALSE(JsonLinesOf(text).empty());
}

// As in a pager that shows its first page.
TEST(Output, AReaderThatStallsHoldsNobodyUp) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "2", "--model=phantom:1kB", "--compute=1us",
                        "--rounds=100000000", "--log-every=1", "--out=" + folder.File("run")});
  // Some 80 bytes a line, and a pipe takes 64 KiB.
  ASSERT_TRUE(Eventually([&] {
    std::error_code error;
    return std::filesystem::file_size(folder.File("run/metrics.jsonl"), error) > 2'000'000 &&
           !error;
  }));
  run.Signal(SIGTERM);
  EXPECT_TRUE(Eventually([&] { return run.Alive() == std::vector{run.pid()}; }));
  EXPECT_EQ(run.Await(), 128 + SIGTERM) << run.output();
  EXPECT_THAT(run.output(), HasSubstr("grapevine train: ended by signal 15"));
}

const std::vector<std::string> kSimulation = {"sim", "--model=phantom:1kB", "--compute=1ms",
                                              "--log-every=1"};

TEST(Output, BothOutputsThroughHeadEndNothing) {
  const ScratchFolder folder;
  const auto first_line = [](const std::string& command) {
    return RunGrapevine({"-c", "./grapevine " + command + " 2>&1 | head -1; exit ${PIPESTATUS[0]}"},
                        {.program = "/bin/bash"});
  };
  for (const std::string command :
       {"sim --model=phantom:1kB --compute=1ms --log-every=1 --rounds=2000 --out=",
        "train -n 2 --model=phantom:1kB --compute=1ms --log-every=1 --rounds=200 --out="}) {
    const std::string run = folder.File(command.substr(0, 3));
    const Ended ended = first_line(command + run);
    EXPECT_EQ(ended.exit_code, kOutput) << command;
    EXPECT_THAT(ended.output, HasSubstr(" nodes, ring, "));
  }
}

TEST(Output, ASimulationWhoseReaderHasGoneHasItsResults) {
  const ScratchFolder folder;
  GrapevineProcess run(With(kSimulation, {"--rounds=5000", "--out=" + folder.File("run")}));
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  run.StopReading();
  EXPECT_EQ(run.Await(), kOutput);
  EXPECT_TRUE(std::filesystem::exists(folder.File("run/summary.json")));
}

TEST(Output, ASignalSaysTheSameToWhoeverHasNoReader) {
  const ScratchFolder folder;
  const std::string endless = "--rounds=100000000";
  const std::vector<std::vector<std::string>> commands = {
      With(kSimulation, {endless, "--overwrite", "--out=" + folder.File("simulation")}),
      {"train", "-n", "2", "--model=phantom:1kB", "--compute=1ms", "--log-every=1", endless,
       "--overwrite", "--out=" + folder.File("run")},
      OneNode(folder.File("node"), {"--compute=1ms", "--overwrite", endless})};
  for (const std::vector<std::string>& command : commands) {
    for (const int signal : {SIGTERM, SIGINT}) {
      SCOPED_TRACE(::testing::PrintToString(command) + std::to_string(signal));
      GrapevineProcess run(command);
      ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
      run.StopReading();
      run.Signal(signal);
      EXPECT_EQ(run.Await(), 128 + signal);
    }
  }
}

}  // namespace
}  // namespace grapevine::testing
