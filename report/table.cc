#include "report/table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/printable.h"

namespace grapevine {
namespace {

using Cells = std::vector<std::string>;

// Replaces what would steer a terminal by blanks, except tabs and line breaks, which a format may
// keep.
std::string Unsteering(const std::string& text) {
  std::string cell;
  for (std::string_view rest = text; !rest.empty();) {
    const bool kept = rest[0] == '\t' || rest[0] == '\n';
    const size_t control = kept ? 0 : ControlLength(rest);
    cell += control > 0 ? ' ' : rest[0];
    rest.remove_prefix(std::max<size_t>(1, control));
  }
  return cell;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Writes "(2.0 \u00b1 1.0)e-05" and "2e-05" as "...$\cdot 10^{-5}$": in a formula, an e would be a
// letter. Leaves other texts, such as commands, as they are.
std::string WithPowersOfTen(const std::string& written, const std::string& text) {
  const size_t at = written.find(text.starts_with('(') ? ")e" : "e");
  double number;
  if (at == written.npos || !(text.starts_with('(') || absl::SimpleAtod(text, &number))) {
    return written;
  }
  const size_t e = written.find('e', at);
  const size_t end = written.find_first_not_of("+-0123456789", e + 1);
  int exponent;
  if (!absl::SimpleAtoi(written.substr(e + 1, end == written.npos ? end : end - e - 1),
                        &exponent)) {
    return written;
  }
  return absl::StrCat(written.substr(0, e), "$\\cdot 10^{", exponent, "}$",
                      end == written.npos ? "" : written.substr(end));
}

// Escapes `text` for LaTeX, without the ligatures and the typographic quotes that would make
// another command of a command.
std::string LatexCell(const std::string& text) {
  const std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\textbackslash{}"},
                                                         {"&", "\\&"},
                                                         {"%", "\\%"},
                                                         {"$", "\\$"},
                                                         {"#", "\\#"},
                                                         {"_", "\\_"},
                                                         {"{", "\\{"},
                                                         {"}", "\\}"},
                                                         {"~", "\\textasciitilde{}"},
                                                         {"^", "\\textasciicircum{}"},
                                                         {"<", "\\textless{}"},
                                                         {">", "\\textgreater{}"},
                                                         {"|", "\\textbar{}"},
                                                         {"'", "\\textquotesingle{}"},
                                                         {"\"", "\\symbol{34}"},
                                                         {"`", "\\textasciigrave{}"},
                                                         {"\u00b1", "$\\pm$"},
                                                         {"\n", " "}});
  // Applied twice, since a replacement is not looked at again: "---".
  const auto apart = [](const std::string& repeated) {
    return absl::StrReplaceAll(repeated, {{"--", "-{}-"}, {",,", ",{},"}});
  };
  return WithPowersOfTen(apart(apart(escaped)), text);
}

std::string MarkdownCell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

Cells Each(const Cells& cells, std::string (*written)(const std::string&)) {
  Cells result;
  for (const std::string& cell : cells) result.push_back(written(cell));
  return result;
}

Table WithoutEmptyColumns(const Table& table) {
  if (table.rows.empty()) return table;
  Table kept{{}, std::vector<Cells>(table.rows.size())};
  for (size_t column = 0; column < table.header.size(); ++column) {
    if (std::ranges::all_of(table.rows, [&](const Cells& row) { return row[column].empty(); })) {
      continue;
    }
    kept.header.push_back(table.header[column]);
    for (size_t row = 0; row < table.rows.size(); ++row) {
      kept.rows[row].push_back(table.rows[row][column]);
    }
  }
  return kept;
}

bool HoldsNumbers(const Table& table, size_t column) {
  return std::ranges::all_of(table.rows, [&](const Cells& row) {
    double ignored;
    return row[column].empty() || absl::SimpleAtod(row[column], &ignored);
  });
}

// Returns `left` or `right` for each column.
Cells Alignments(const Table& table, const char* left, const char* right) {
  Cells alignments;
  for (size_t column = 0; column < table.header.size(); ++column) {
    alignments.push_back(HoldsNumbers(table, column) ? right : left);
  }
  return alignments;
}

std::string Csv(const Table& table) {
  std::string text = absl::StrJoin(Each(table.header, CsvCell), ",") + "\n";
  for (const Cells& row : table.rows) {
    absl::StrAppend(&text, absl::StrJoin(Each(row, CsvCell), ","), "\n");
  }
  return text;
}

// The lines of a LaTeX table above the header, below it, and at the end.
struct Rules {
  const char* top;
  const char* middle;
  const char* bottom;
};

constexpr Rules kPlainRules = {"\\hline", "\\hline", "\\hline"};
constexpr Rules kBooktabsRules = {"\\toprule", "\\midrule", "\\bottomrule"};

std::string Latex(const Table& table, const Rules& rules) {
  const auto line = [](const Cells& cells) {
    return absl::StrCat(absl::StrJoin(Each(cells, LatexCell), " & "), " \\\\\n");
  };
  std::string text =
      absl::StrCat("\\begin{tabular}{", absl::StrJoin(Alignments(table, "l", "r"), ""), "}\n",
                   rules.top, "\n", line(table.header), rules.middle, "\n");
  for (const Cells& row : table.rows) text += line(row);
  return absl::StrCat(text, rules.bottom, "\n\\end{tabular}\n");
}

std::string Markdown(const Table& table) {
  const auto line = [](const Cells& cells) {
    return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
  };
  std::string text =
      line(Each(table.header, MarkdownCell)) + line(Alignments(table, "---", "---:"));
  for (const Cells& row : table.rows) text += line(Each(row, MarkdownCell));
  return text;
}

// Keeps each row on one line of the terminal.
std::string TextCell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\n", " "}, {"\t", " "}});
}

std::string Aligned(const Table& table) {
  std::vector<size_t> widths;
  const Cells sides = Alignments(table, "l", "r");
  for (size_t column = 0; column < table.header.size(); ++column) {
    size_t width = LetterCount(table.header[column]);
    for (const Cells& row : table.rows) width = std::max(width, LetterCount(row[column]));
    widths.push_back(width);
  }
  const auto line = [&](const Cells& cells) {
    std::string text;
    for (size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - LetterCount(cells[column]), ' ');
      const bool right = sides[column] == "r";
      absl::StrAppend(&text, right ? padding : "", cells[column], right ? "" : padding, "  ");
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(table.header);
  for (const Cells& row : table.rows) text += line(row);
  return text;
}

Table Written(Table table, std::string (*written)(const std::string&)) {
  table.header = Each(table.header, written);
  for (Cells& row : table.rows) row = Each(row, written);
  return table;
}

}  // namespace

std::string TableText(const Table& table, TableFormat format) {
  const Table safe = Written(table, Unsteering);
  switch (format) {
    case TableFormat::kCsv:
      return Csv(safe);
    case TableFormat::kLatex:
      return Latex(WithoutEmptyColumns(safe), kPlainRules);
    case TableFormat::kBooktabs:
      return Latex(WithoutEmptyColumns(safe), kBooktabsRules);
    case TableFormat::kMarkdown:
      return Markdown(WithoutEmptyColumns(safe));
    case TableFormat::kText:
      break;
  }
  return Aligned(Written(WithoutEmptyColumns(safe), TextCell));
}

namespace {

bool Begins(char c) { return (c & 0xC0) != 0x80; }

}  // namespace

size_t LetterCount(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, Begins));
}

std::string Fitting(std::string text, size_t most) {
  constexpr char kCut[] = "...";
  if (LetterCount(text) <= most) return text;
  size_t kept = most - 3;
  const auto end = std::ranges::find_if(text, [&kept](char c) { return Begins(c) && kept-- == 0; });
  text.replace(end, text.end(), kCut);
  return text;
}

}  // namespace grapevine
