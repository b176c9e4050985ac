#include "tests/scenarios/script.h"

#include <gtest/gtest.h>

namespace grapevine::testing {
namespace {

constexpr char kText[] =
    "# Some prose.\n"
    "\n"
    "cluster of 3\n"
    "start\n"
    "----\n"
    "0: sends\n"
    "1: sends\n"
    "\n"
    "# More prose.\n"
    "settle\n"
    "----\n"
    "\n"
    "# The end.\n";

TEST(Script, IsReadInBlocks) {
  const Script script = ParseScript(kText);
  ASSERT_EQ(script.blocks.size(), 2u);
  EXPECT_EQ(script.blocks[0].line, 3);
  EXPECT_EQ(script.blocks[0].commands, (std::vector<std::string>{"cluster of 3", "start"}));
  EXPECT_EQ(script.blocks[0].output, "0: sends\n1: sends\n");
  EXPECT_EQ(script.blocks[1].prose, std::vector<std::string>{"# More prose."});
  EXPECT_EQ(script.blocks[1].output, "");
  EXPECT_EQ(script.rest, std::vector<std::string>{"# The end."});
}

TEST(Script, IsWrittenAsItWasRead) { EXPECT_EQ(FormatScript(ParseScript(kText)), kText); }

TEST(Script, WithoutOutputGetsIt) {
  const Script played = PlayScript(ParseScript("a\nb\n----\n"), [](const auto& commands) {
    return commands[0] + commands[1] + "\n";
  });
  EXPECT_EQ(FormatScript(played), "a\nb\n----\nab\n");
}

}  // namespace
}  // namespace grapevine::testing
