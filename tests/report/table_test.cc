#include "report/table.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

// A column of numbers, one that is empty, and texts that mean something to each format.
Table Awkward() {
  return {{"method", "nothing", "accuracy (%)"},
          {{"ring, \"dpsgd\"", "", "98.5"}, {"a|b_c & 50%", "", "7"}, {"2\u00d7", "", ""}}};
}

TEST(TableText, QuotesInCsvAndKeepsEmptyColumns) {
  EXPECT_EQ(TableText(Awkward(), TableFormat::kCsv),
            "method,nothing,accuracy (%)\n"
            "\"ring, \"\"dpsgd\"\"\",,98.5\n"
            "a|b_c & 50%,,7\n"
            "2\u00d7,,\n");
}

TEST(TableText, WritesPowersOfTenInLatex) {
  const auto cell = [](const std::string& text) {
    const std::string table = TableText({{"a"}, {{text}}}, TableFormat::kLatex);
    const size_t begin = table.find("a \\\\\n\\hline\n") + 12;
    return table.substr(begin, table.find(" \\\\", begin) - begin);
  };
  EXPECT_EQ(cell("(7.9 \u00b1 1.2)e-09"), "(7.9 $\\pm$ 1.2)$\\cdot 10^{-9}$");
  EXPECT_EQ(cell("(7.9 \u00b1 1.2)e+12 MB"), "(7.9 $\\pm$ 1.2)$\\cdot 10^{12}$ MB");
  EXPECT_EQ(cell("2.5e-05"), "2.5$\\cdot 10^{-5}$");
  EXPECT_EQ(cell("lr=2.5e-05"), "lr=2.5e-05");
  EXPECT_EQ(cell("(never)e"), "(never)e");
  EXPECT_EQ(cell("ring, dpsgd"), "ring, dpsgd");
}

TEST(TableText, EscapesInLatex) {
  EXPECT_EQ(TableText(Awkward(), TableFormat::kLatex),
            "\\begin{tabular}{lr}\n\\hline\n"
            "method & accuracy (\\%) \\\\\n\\hline\n"
            "ring, \\symbol{34}dpsgd\\symbol{34} & 98.5 \\\\\n"
            "a\\textbar{}b\\_c \\& 50\\% & 7 \\\\\n"
            "2\u00d7 &  \\\\\n"
            "\\hline\n\\end{tabular}\n");
}

TEST(TableText, HasTheRulesOfBooktabs) {
  EXPECT_EQ(TableText({{"method", "accuracy"}, {{"a_b & c", "98.5 \u00b1 1.2 %"}, {"d", "7"}}},
                      TableFormat::kBooktabs),
            "\\begin{tabular}{ll}\n\\toprule\n"
            "method & accuracy \\\\\n\\midrule\n"
            "a\\_b \\& c & 98.5 $\\pm$ 1.2 \\% \\\\\n"
            "d & 7 \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
}

TEST(TableText, EscapesPipesInMarkdown) {
  EXPECT_EQ(TableText(Awkward(), TableFormat::kMarkdown),
            "| method | accuracy (%) |\n"
            "| --- | ---: |\n"
            "| ring, \"dpsgd\" | 98.5 |\n"
            "| a\\|b_c & 50% | 7 |\n"
            "| 2\u00d7 |  |\n");
}

TEST(TableText, AlignsText) {
  EXPECT_EQ(TableText(Awkward(), TableFormat::kText),
            "method         accuracy (%)\n"
            "ring, \"dpsgd\"          98.5\n"
            "a|b_c & 50%               7\n"
            "2\u00d7\n");
}

TEST(TableText, KeepsCommandsInsideTheirCells) {
  const Table hostile{{"a"}, {{"\\input{/etc/passwd}\n$x^2$ ~#"}}};
  EXPECT_EQ(TableText(hostile, TableFormat::kLatex),
            "\\begin{tabular}{l}\n\\hline\na \\\\\n\\hline\n"
            "\\textbackslash{}input\\{/etc/passwd\\} \\$x\\textasciicircum{}2\\$ "
            "\\textasciitilde{}\\# \\\\\n\\hline\n\\end{tabular}\n");
  EXPECT_EQ(TableText({{"a"}, {{"\x1b[2J\n"}}}, TableFormat::kText), "a\n [2J\n");
  EXPECT_EQ(
      TableText({{"a"}, {{"--nodes=8 ---x '--out=a->b' `c` <d> \",,e\""}}}, TableFormat::kLatex),
      "\\begin{tabular}{l}\n\\hline\na \\\\\n\\hline\n"
      "-{}-nodes=8 -{}-{}-x \\textquotesingle{}-{}-out=a-\\textgreater{}b"
      "\\textquotesingle{} \\textasciigrave{}c\\textasciigrave{} "
      "\\textless{}d\\textgreater{} \\symbol{34},{},e\\symbol{34} "
      "\\\\\n\\hline\n\\end{tabular}\n")
      << "no ligatures and no typographic quotes";
  EXPECT_EQ(TableText({{"a", "b"}, {}}, TableFormat::kMarkdown), "| a | b |\n| ---: | ---: |\n");
}

// A stranger's run directory is printed, too. U+009B is ESC [ to many terminals.
TEST(TableText, SteersNoTerminal) {
  const Table hostile{{"a\x1b]0;x\a"}, {{"b\xc2\x9b\x32J\x7f\rc"}, {"\xc2\xa0\u00d7\t"}}};
  for (const NamedTableFormat& format : kTableFormats) {
    const std::string text = TableText(hostile, format.format);
    EXPECT_EQ(text.find_first_of("\x1b\a\x7f\r"), text.npos) << format.name << ": " << text;
    EXPECT_EQ(text.find("\xc2\x9b"), text.npos) << format.name;
    EXPECT_NE(text.find("\xc2\xa0\u00d7"), text.npos) << format.name << ": " << text;
  }
  EXPECT_EQ(TableText({{"a"}, {{"b\nc"}}}, TableFormat::kCsv), "a\n\"b\nc\"\n")
      << "quotes keep a line break";
}

}  // namespace
}  // namespace grapevine
