#include "base/printable.h"

#include "gtest/gtest.h"

namespace grapevine {
namespace {

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(Printable("rank 3 \"über\" 'ε' \\n", 100), "rank 3 \"über\" 'ε' \\n");
  EXPECT_EQ(Printable("", 0), "");
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\033[2J\r\n\tb\x7f", 100), "a\\x1b[2J\\x0d\\x0a\\x09b\\x7f");
  EXPECT_EQ(Printable(std::string_view("\0", 1), 100), "\\x00");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J",
                      100),
            "\\x9b2J")
      << "U+009B is ESC [";
  EXPECT_EQ(Printable("\xc2\xa0\xc2", 100), "\xc2\xa0\xc2");
}

TEST(Printable, KeepsTheEndsOfLinesWhereThereAreSeveral) {
  EXPECT_EQ(PrintableLines("a\n\033[2J\r\n"), "a\n\\x1b[2J\\x0d\n");
}

TEST(ControlLength, IsOfTheFirstCharacter) {
  EXPECT_EQ(ControlLength("\n\n"), 1u);
  EXPECT_EQ(ControlLength("\x7f"), 1u);
  EXPECT_EQ(ControlLength("\xc2\x80"), 2u);
  EXPECT_EQ(ControlLength("\xc2\x9f\n"), 2u);
  EXPECT_EQ(ControlLength("\xc2\x7f"), 0u) << "no second byte of a character";
  for (const char* text : {"", "a\n", "\xc2\xa0", "\xc2", "\xc3\x9b"}) {
    EXPECT_EQ(ControlLength(text), 0u) << text;
  }
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdef", 5), "abcde...");
  EXPECT_EQ(Printable("abcdüf", 5), "abcd...");
  EXPECT_EQ(Printable("üüü", 0), "...");
}

}  // namespace
}  // namespace grapevine
