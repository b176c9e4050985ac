// The program where the system grants it little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The command's end under a limit of the shell's: "-n 24".
Ended RunUnder(const std::string& limit, const std::string& command) {
  return RunGrapevine({"-c", "ulimit " + limit + "; exec ./grapevine " + command},
                      {.program = "/bin/bash"});
}

class Limits : public ::testing::Test {
 protected:
  std::string Out() const { return " --overwrite --out=" + folder_.File("run"); }

  const ScratchFolder folder_;
};

constexpr char kTwoNodes[] = "train -n 2 --model=phantom:1kB --compute=1ms --rounds=20";
constexpr char kEightNodes[] =
    "train -n 8 --topology=complete --model=phantom:1kB --compute=1ms --rounds=20";

TEST_F(Limits, TooFewDescriptorsAreRefusedWithBothNumbers) {
  const struct {
    const char* limit;
    const char* command;
    const char* needed;
  } cases[] = {{"-n 24", kTwoNodes, "may need 72 descriptors, and the system grants it 24"},
               {"-n 64", kEightNodes, "may need 108 descriptors, and the system grants it 64"}};
  for (const auto& c : cases) {
    for (const char* mode : {"", " --dry-run"}) {
      const Ended ended = RunUnder(c.limit, c.command + Out() + mode);
      EXPECT_EQ(ended.exit_code, kOtherwise) << ended.output;
      EXPECT_THAT(ended.output, AllOf(HasSubstr(c.needed), HasSubstr("`ulimit -Hn`")));
    }
  }
}

TEST_F(Limits, ANodeLooksAtItsOwn) {
  const std::string port = std::to_string(FreePort());
  const Ended ended = RunUnder("-n 24",
                               "node --rank=0 --world-size=2 --master-addr=127.0.0.1 "
                               "--model=phantom:1kB --compute=1ms --rounds=20 --master-port=" +
                                   port + Out());
  EXPECT_EQ(ended.exit_code, kOtherwise) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("may need 72 descriptors, and the system grants it 24"));
}

TEST_F(Limits, AsManyDescriptorsAsAreAskedForSuffice) {
  for (const auto& [limit, command] :
       {std::pair{"-n 72", kTwoNodes}, std::pair{"-n 108", kEightNodes}}) {
    const Ended ended = RunUnder(limit, command + Out());
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_THAT(ended.output, Not(HasSubstr("rejected a connection")));
  }
}

TEST_F(Limits, ASoftLimitIsRaised) {
  for (const char* command : {kTwoNodes, kEightNodes}) {
    const Ended ended = RunUnder("-Sn 24", command + Out());
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_THAT(ended.output, Not(HasSubstr("rejected a connection")));
  }
}

TEST_F(Limits, TooLittleMemoryIsNamed) {
  const std::string of_model = " --model=quadratic:dim=100000000 --rounds=2" + Out();
  const std::string node = "node --rank=0 --world-size=1 --master-addr=127.0.0.1 --master-port=";
  for (const std::string& command : {"train -n 2" + of_model, "sim -n 2 --compute=1ms" + of_model,
                                     node + std::to_string(FreePort()) + of_model}) {
    const Ended ended = RunUnder("-v 1000000", command);
    EXPECT_EQ(ended.exit_code, kOtherwise) << command;
    EXPECT_THAT(ended.output,
                AllOf(HasSubstr("grapevine: out of memory for --model=quadratic:dim=100000000 "),
                      HasSubstr("`ulimit -v` grants 1.02 GB"), Not(HasSubstr("terminate called"))));
  }
}

}  // namespace
}  // namespace grapevine::testing
