#include "cli/flags/help_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FlagDescription Rate() {
  return {.names = {"--rate"},
          .placeholder = "RATE",
          .help = "how fast: slow (a long explanation of what is slow), fast (and of what is fast)",
          .fallback = "slow",
          .group = "Training",
          .words = {"slow", "fast:"},
          .brief = "how fast",
          .choices = {{"slow", "", "a long explanation of what is slow"},
                      {"fast", ":by=N", "and of what is fast"}}};
}

CommandDescription WithFlags(int rare) {
  CommandDescription command{.name = "train", .help = "a command", .footer = "Examples:\n  none"};
  command.flags.push_back(
      {.names = {"-h", "--help"}, .help = "print this help and exit", .group = "Options"});
  command.flags.push_back(Rate());
  for (int i = 0; i < rare; ++i) {
    command.flags.push_back({.names = {absl::StrCat("--rare-", i)},
                             .help = "of use to few",
                             .group = "Training",
                             .rare = true});
  }
  command.arguments.push_back({.names = {"RUN"},
                               .placeholder = "DIR",
                               .help = "run directories",
                               .required = true,
                               .repeated = true});
  return command;
}

TEST(HelpText, OfACommandWithFewFlagsHasAllOfThem) {
  EXPECT_EQ(HelpText(WithFlags(1), "grapevine train", HelpExtent::kShort),
            "a command\n"
            "Usage: grapevine train [OPTIONS] RUN...\n"
            "\nArguments:\n"
            "  RUN DIR                     run directories (required)\n"
            "\nOptions:\n"
            "  -h,--help                   print this help and exit\n"
            "\nTraining:\n"
            "  --rate RATE                 how fast: slow (a long explanation of what is slow), "
            "fast (and of\n"
            "                              what is fast) [slow]\n"
            "  --rare-0                    of use to few\n"
            "\nExamples:\n  none\n");
}

TEST(HelpText, OfACommandWithManyFlagsIsOfTheCommonOnes) {
  const std::string text = HelpText(WithFlags(40), "grapevine train", HelpExtent::kShort);
  EXPECT_THAT(text, HasSubstr("  --rate RATE                 how fast: slow, fast: [slow]\n"));
  EXPECT_THAT(text, Not(HasSubstr("--rare-")));
  EXPECT_THAT(text, HasSubstr("  --help=all                  40 more settings\n"
                              "  --help=rate                 everything about one setting, here "
                              "--rate\n"));
  const std::string all = HelpText(WithFlags(40), "grapevine train", HelpExtent::kAll);
  EXPECT_THAT(all, HasSubstr("--rare-39 "));
  EXPECT_THAT(all, HasSubstr("(a long explanation of what is slow)"));
  EXPECT_THAT(all, Not(HasSubstr("--help=all")));
}

TEST(HelpText, OfAFlagHasAParagraphForEachChoice) {
  EXPECT_EQ(FlagHelpText(Rate(), "grapevine train"),
            "grapevine train --rate RATE\n"
            "  how fast\n"
            "  default: slow\n"
            "\n  slow\n      a long explanation of what is slow\n"
            "\n  fast:by=N\n      and of what is fast\n");
}

TEST(HelpText, KeepsToItsColumnsExceptForWordsThatAreLonger) {
  CommandDescription command = WithFlags(0);
  std::string longest;
  for (int length = 1; length < 60; ++length)
    absl::StrAppend(&longest, " ", std::string(length, 'x'));
  command.flags.front().help = longest;
  command.flags.front().names = {"--a-name-that-leaves-no-room-for-texts"};
  for (const auto line :
       absl::StrSplit(HelpText(command, "grapevine train", HelpExtent::kAll), '\n')) {
    EXPECT_LE(line.size(), 98u) << line;
  }
}

}  // namespace
}  // namespace grapevine
