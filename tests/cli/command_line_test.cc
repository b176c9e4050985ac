#include "cli/flags/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUsage = 2;

// What a command with flags of all sorts makes of its arguments.
struct Parsed {
  int exit_code = -1;
  std::string error;
  bool ran = false;
  std::string out = "default";
  int64_t rounds = 1;
  std::vector<std::string> slow;
  std::vector<std::string> runs;
};

Parsed Parse(std::vector<std::string> arguments) {
  Parsed parsed;
  CommandLine line("grapevine", "for a test");
  Command command = line.AddCommand("train", "a command");
  command.AddFlag({.names = "-o,--out", .help = "a text"}, &parsed.out);
  command.AddFlag({.names = "--rounds", .help = "a number"}, &parsed.rounds);
  const Flag slow = command.AddText({.names = "--slow", .help = "a list"}, /*repeated=*/true);
  command.AddSwitch({.names = "--overwrite", .help = "a switch"});
  command.AddFlag({.names = "RUN", .help = "arguments"}, &parsed.runs);
  command.OnChosen([&] {
    parsed.ran = true;
    parsed.slow = slow.values();
    return absl::OkStatus();
  });
  arguments.insert(arguments.begin(), {"grapevine", "train"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStderr();
  parsed.exit_code = line.Run(static_cast<int>(argv.size()), argv.data());
  parsed.error = ::testing::internal::GetCapturedStderr();
  return parsed;
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
  SCOPED_TRACE(::testing::PrintToString(arguments));
  const Parsed parsed = Parse(arguments);
  EXPECT_FALSE(parsed.ran);
  EXPECT_EQ(parsed.exit_code, kUsage);
  EXPECT_EQ(parsed.error, "grapevine train: " + why + "; see grapevine train --help\n");
}

TEST(CommandLine, TakesValuesWithAndWithoutAnEqualsSign) {
  const Parsed parsed =
      Parse({"--out=a=b", "--rounds", "-3", "--slow=1:2", "--slow", "2:3", "run"});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.error;
  EXPECT_TRUE(parsed.ran);
  EXPECT_EQ(parsed.out, "a=b");
  EXPECT_EQ(parsed.rounds, -3);
  EXPECT_THAT(parsed.slow, ElementsAre("1:2", "2:3"));
  EXPECT_THAT(parsed.runs, ElementsAre("run"));
}

TEST(CommandLine, AFlagWithoutAValueTakesNotTheNextArgument) {
  ExpectRefused({"--out=", "--rounds=3"}, "--out=: the value is empty");
  ExpectRefused({"--out=", "run"}, "--out=: the value is empty");
  ExpectRefused({"--rounds=", "3"}, "--rounds=: the value is empty");
  ExpectRefused({"--overwrite", "--slow=", "1:2"}, "--slow=: the value is empty");
  ExpectRefused({"--out="}, "--out=: the value is empty");
  ExpectRefused({"--out", "--rounds=3"}, "--out: needs a value, and --rounds=3 is a flag");
  ExpectRefused({"-o", "--overwrite"}, "--out: needs a value, and --overwrite is a flag");
  ExpectRefused({"--slow", "--rounds=3"}, "--slow: needs a value, and --rounds=3 is a flag");
}

TEST(CommandLine, ALetterTakesAValueAfterAnEqualsSign) {
  EXPECT_EQ(Parse({"-o=here"}).out, "here");
  EXPECT_EQ(Parse({"-o", "here"}).out, "here");
  EXPECT_THAT(Parse({"--", "-o=here"}).runs, ElementsAre("-o=here"));
  ExpectRefused({"-o="}, "-o=: the value is empty");
}

TEST(CommandLine, AliasesAreTakenAndNotShown) {
  CommandLine line("grapevine", "for a test");
  Command command = line.AddCommand("train", "a command");
  int64_t nodes = 0;
  command.AddFlag({.names = "-n,--nodes", .help = "a number", .aliases = {"--world-size", "-k"}},
                  &nodes);
  EXPECT_THAT(line.Help("train", "all").value(), Not(HasSubstr("--world-size")));
  EXPECT_THAT(line.Describe().commands.front().flags.back().names, ElementsAre("-n", "--nodes"));
  std::vector<std::string> arguments = {"grapevine", "train", "--world-size=3"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  EXPECT_EQ(line.Run(static_cast<int>(argv.size()), argv.data()), 0);
  EXPECT_EQ(nodes, 3);
}

TEST(CommandLine, WhatFollowsTwoDashesIsNoFlag) {
  const Parsed parsed = Parse({"--rounds=3", "--", "--odd="});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.error;
  EXPECT_THAT(parsed.runs, ElementsAre("--odd="));
}

}  // namespace
}  // namespace grapevine
