// Every command of README.md and docs/tutorials, as a reader types it, page by page; and the output
// that the pages show.
//
// What a page builds is built already: Bazel runs this test and cannot be run by it, so that
// `bazel` is here a program that accepts what this test's own build has made, and runs those of its
// tests that are about the examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/documentation.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/ssh_servers.h"
#include "tests/process/virtual_hosts.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kFrontPage[] = "README.md";
constexpr char kFolder[] = "docs/tutorials";
// The page with several hosts, whose commands have prompts.
constexpr char kClusterPage[] = "docs/tutorials/your-cluster.md";
constexpr char kPath[] = ":/usr/sbin:/usr/bin:/sbin:/bin";

// bazel build|test //FOLDER:NAME...
constexpr char kBazel[] =
    "#!/bin/sh -eu\n"
    "command=$1; shift\n"
    "for target; do\n"
    "  file=bazel-bin/$(echo ${target#//} | tr : /)\n"
    "  [ -x $file ] || { echo \"$target is not among what this test has built\"; exit 1; }\n"
    "  [ $command = build ] || (cd $RUNFILES && env -i PATH=$PATH TEST_TMPDIR=$HOME \\\n"
    "    ./$(echo ${target#//} | tr : /) --gtest_filter='*adder*:*eriodic*')\n"
    "done\n";

// A step's failure, with the place of its block.
std::string Problem(const std::string& page, const Step& step, int exit_code,
                    const std::string& output) {
  const std::string place = page + ":" + std::to_string(step.line) + ": ";
  if (exit_code != 0) {
    return place + "ends with " + std::to_string(exit_code) + "\n" + step.commands + output;
  }
  const std::string missing = FirstMissing(step.shown, output);
  return missing.empty() ? "" : place + "does not print\n" + missing + "\nbut\n" + output;
}

class Tutorial : public ::testing::TestWithParam<std::string> {
 protected:
  // A reader's folder: the program in PATH, and a tree in which examples are built.
  void SetUp() override {
    fs::create_directories(folder_.File("bin"));
    fs::create_directories(folder_.File("work/bazel-bin"));
    fs::create_symlink(fs::canonical("grapevine"), folder_.File("bin/grapevine"));
    for (const char* shared : {"examples", "tools"}) {
      fs::create_directory_symlink(fs::absolute(shared),
                                   folder_.File("work/" + std::string(shared)));
    }
    fs::create_directory_symlink(fs::absolute("examples"), folder_.File("work/bazel-bin/examples"));
    AddProgram("bazel", kBazel);
  }

  void AddProgram(const std::string& name, const std::string& script) {
    fs::permissions(folder_.Write("bin/" + name, script), fs::perms::owner_all);
  }

  std::map<std::string, std::string> Environment(const std::string& commands) const {
    return {{"LINES_OF_PAGE", commands},
            {"PATH", folder_.File("bin") + kPath},
            {"HOME", folder_.File("work")},
            {"RUNFILES", fs::current_path()},
            {"LC_ALL", "C.UTF-8"}};
  }

  // Has the commands of the environment carried out in the reader's folder.
  std::string InFolder() const {
    return "cd " + folder_.File("work") + " && exec /bin/bash -euo pipefail -c \"$LINES_OF_PAGE\"";
  }

  void RunSteps() {
    for (const Step& step : Steps(GetParam())) {
      GrapevineProcess shell({"-c", InFolder()},
                             {.program = "/bin/sh", .environment = Environment(step.commands)});
      const int exit_code = shell.Await();
      ASSERT_EQ(Problem(GetParam(), step, exit_code, shell.output()), "");
    }
  }

  // Each command on the host of its prompt, one after the other.
  void RunStepsOnHosts() {
    if (!SshServers::Installed())
      GTEST_SKIP() << "openssh-server is missing: tools/install_packages test_packages.txt";
    constexpr int kHosts = 4;
    network_.emplace(folder_.path(), kHosts);
    if (!network_->up()) GTEST_SKIP() << "network namespaces are missing: " << network_->output();
    ssh_.emplace(*network_, kHosts, folder_.path());
    AddProgram("ssh", "#!/bin/sh\nexec /usr/bin/" + ssh_->Shell() + " \"$@\"\n");
    for (const Step& step : Steps(GetParam())) {
      std::string output;
      int exit_code = 0;
      for (const HostCommand& command : Commands(step.commands)) {
        GrapevineProcess host(
            network_->On(command.host.back() - '0', InFolder()),
            {.program = VirtualHosts::kProgram, .environment = Environment(command.command)});
        exit_code = std::max(exit_code, host.Await());
        output += host.output();
      }
      ASSERT_EQ(Problem(GetParam(), step, exit_code, output), "");
    }
  }

  const ScratchFolder folder_;
  std::optional<VirtualHosts> network_;
  std::optional<SshServers> ssh_;
};

TEST_P(Tutorial, DoesWhatItShows) { GetParam() == kClusterPage ? RunStepsOnHosts() : RunSteps(); }

std::vector<std::string> Pages() {
  std::vector<std::string> pages = {kFrontPage};
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path().string());
  }
  std::ranges::sort(pages);
  return pages;
}

INSTANTIATE_TEST_SUITE_P(Pages, Tutorial, ::testing::ValuesIn(Pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem();
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace grapevine::testing
