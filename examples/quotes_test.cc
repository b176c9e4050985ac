// The code that docs/ shows is code of these examples, which are built and tested: every paragraph
// of a block ```cpp or ```python stands in one of them, line by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

// Indentation aside: without the spaces at its ends.
std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(FileText(path), '\n')) {
    lines.emplace_back(absl::StripAsciiWhitespace(line));
  }
  return lines;
}

// Between line breaks, with one at each end.
std::string Joined(const std::vector<std::string>& lines) {
  std::string text = "\n";
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  return text;
}

// The paragraphs of a page's blocks in a language.
std::vector<std::string> Paragraphs(const std::string& page, const std::string& language) {
  std::vector<std::string> paragraphs;
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : LinesOf(page)) {
    const bool fence = line.starts_with("```");
    if ((fence || line.empty()) && !lines.empty()) {
      paragraphs.push_back(Joined(lines));
      lines.clear();
    }
    if (fence) {
      inside = !inside && line == "```" + language;
    } else if (inside && !line.empty()) {
      lines.push_back(line);
    }
  }
  return paragraphs;
}

std::string Sources(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) absl::StrAppend(&text, Joined(LinesOf("examples/" + name)));
  return text;
}

class QuotedCode : public ::testing::TestWithParam<std::string> {};

TEST_P(QuotedCode, StandInTheExamples) {
  const std::string page = "docs/" + GetParam();
  const std::string code = Sources({"double_well.cc", "ladder.cc", "periodic_gossip.cc", "sgdw.cc",
                                    "train_and_simulate.cc", "your_own_model.cc"});
  const std::vector<std::string> quotes = Paragraphs(page, "cpp");
  EXPECT_FALSE(quotes.empty()) << page;
  for (const std::string& quote : quotes) {
    EXPECT_TRUE(code.find(quote) != code.npos) << page << " shows what no example has:" << quote;
  }
}

TEST(QuotedRules, StandInTheExamples) {
  const std::string rules =
      Sources({"BUILD.bazel", "own_workspace/BUILD.bazel", "own_workspace/WORKSPACE"});
  const std::vector<std::string> quotes = Paragraphs("docs/extending.md", "python");
  EXPECT_FALSE(quotes.empty());
  for (const std::string& quote : quotes) {
    EXPECT_TRUE(rules.find(quote) != rules.npos) << "no example has:" << quote;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, QuotedCode,
                         ::testing::Values("data.md", "extending.md", "your-own-model.md"),
                         [](const auto& info) {
                           return std::string(info.param.substr(0, info.param.find_first_of("-.")));
                         });

}  // namespace
}  // namespace grapevine::testing
