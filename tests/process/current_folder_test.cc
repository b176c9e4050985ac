// The program is started by whatever path from whatever folder: also from one that is gone or that
// nobody may write to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTrain[] =
    " train -n 2 --model=softmax --data=synthetic:train=64:test=20 --batch=8 --rounds=2 ";
constexpr char kSim[] = " sim -n 2 --model=phantom:100kB --compute=1ms --rounds=2 ";

class CurrentFolder : public ::testing::Test {
 protected:
  // Carries out a line of a shell in the scratch folder, where $PROGRAM is the program.
  Ended Shell(const std::string& line) const {
    return RunGrapevine(
        {"-c", "cd " + folder_.path() + " && " + line},
        {.program = "/bin/sh", .environment = {{"PROGRAM", fs::canonical("grapevine")}}});
  }
  // From a folder that is removed before.
  Ended FromNowhere(const std::string& arguments) const {
    return Shell("mkdir gone && cd gone && rmdir ../gone && exec $PROGRAM" + arguments);
  }

  const ScratchFolder folder_;
};

TEST_F(CurrentFolder, ALinkByARelativePathHasItsNodesAndItsRevision) {
  const Ended trained =
      Shell("mkdir bin elsewhere && ln -s $PROGRAM bin/gv && cd elsewhere && ../bin/gv" +
            std::string(kTrain) + "--out=../run");
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const std::string revision = JsonOf(RunGrapevine({"version", "--json"}).output)["revision"];
  EXPECT_THAT(FileText(folder_.File("run/config.textproto")),
              HasSubstr("revision: \"" + revision + "\""));
  EXPECT_TRUE(fs::is_empty(folder_.File("elsewhere")));
}

TEST_F(CurrentFolder, OneThatIsGoneIsAnErrorThatSaysSo) {
  for (const char* command : {kTrain, kSim}) {
    for (const char* out : {"", "--out=run"}) {
      const Ended refused = FromNowhere(std::string(command) + out);
      EXPECT_EQ(refused.exit_code, kOutput) << command << out;
      EXPECT_THAT(refused.output,
                  HasSubstr("the current folder is gone; start in one that exists, or "
                            "give --out as an absolute path"));
    }
  }
}

TEST_F(CurrentFolder, OneThatIsGoneIsEnoughForAnAbsolutePath) {
  for (const char* command : {kTrain, kSim}) {
    const Ended ended =
        FromNowhere(std::string(command) + "--overwrite --out=" + folder_.File("run"));
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_TRUE(fs::exists(folder_.File("run/summary.json")));
  }
}

// Root may write everywhere, but not in a namespace of users that has no root.
TEST_F(CurrentFolder, OneThatNobodyMayWriteToIsNamedWithTheRemedy) {
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  if (Shell("unshare --user test ! -w .").exit_code != 0)
    GTEST_SKIP() << "namespaces of users are missing";
  for (const char* command : {kTrain, kSim}) {
    const Ended refused = Shell("exec unshare --user $PROGRAM" + std::string(command));
    EXPECT_EQ(refused.exit_code, kOutput);
    EXPECT_THAT(refused.output, HasSubstr("cannot write to " + folder_.path() +
                                          " (choose another --out): Permission denied"));
  }
  const Ended drawn =
      Shell("exec unshare --user $PROGRAM topology --topology=ring -n 4 --out=ring.dot");
  EXPECT_EQ(drawn.exit_code, kOutput);
  EXPECT_THAT(drawn.output, AllOf(HasSubstr("cannot create ring.dot: Permission denied"),
                                  Not(HasSubstr(".tmp"))));
}

}  // namespace
}  // namespace grapevine::testing
