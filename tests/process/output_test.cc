// What the program does when what it writes has no room, no reader or no place.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUsage = 2, kOutput = 4;

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
      {"plot", folder.File("run"), "-o", folder.File("plot.svg")}};
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
          With(kTiny, {"--rounds=2", "--profile=" + path}), With(sim, {"--trace=" + path})}) {
      for (const char* mode : {"--dry-run", "--log-level=warning"}) {
        const Ended ended = RunGrapevine(With(command, {mode, "--out=" + folder.File("run")}));
        SCOPED_TRACE(::testing::PrintToString(command) + mode);
        EXPECT_EQ(ended.exit_code, kOutput);
        EXPECT_THAT(ended.output, AllOf(HasSubstr(path), HasSubstr("no regular file")));
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
  for (const std::string flag : {"--trace=", "--profile="}) {
    const Ended ended = RunGrapevine(
        With(kTiny, {"--rounds=2", "--dry-run", flag + path, "--out=" + folder.File("run")}));
    EXPECT_EQ(ended.exit_code, kOutput);
    EXPECT_THAT(ended.output, HasSubstr(path));
  }
  const Ended swept =
      RunGrapevine({"sim", "--dry-run", "--topology=ring,torus", "--trace=" + folder.File("trace"),
                    "--model=phantom:1MB", "--compute=1ms", "--rounds=5"});
  EXPECT_EQ(swept.exit_code, kUsage);
  EXPECT_THAT(swept.output, HasSubstr("a sweep of 2 cells has no one trace"));
}

}  // namespace
}  // namespace grapevine::testing
