#include "report/table.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace grapevine {
namespace {

using Cells = std::vector<std::string>;

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string LatexCell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\textbackslash{}"},
                                    {"&", "\\&"},
                                    {"%", "\\%"},
                                    {"$", "\\$"},
                                    {"#", "\\#"},
                                    {"_", "\\_"},
                                    {"{", "\\{"},
                                    {"}", "\\}"},
                                    {"~", "\\textasciitilde{}"},
                                    {"^", "\\textasciicircum{}"},
                                    {"\n", " "}});
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

// `left` or `right` for each column.
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

std::string Latex(const Table& table) {
  const auto line = [](const Cells& cells) {
    return absl::StrCat(absl::StrJoin(Each(cells, LatexCell), " & "), " \\\\\n");
  };
  std::string text =
      absl::StrCat("\\begin{tabular}{", absl::StrJoin(Alignments(table, "l", "r"), ""),
                   "}\n\\hline\n", line(table.header), "\\hline\n");
  for (const Cells& row : table.rows) text += line(row);
  return text + "\\hline\n\\end{tabular}\n";
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

// What would steer a terminal becomes a blank.
std::string TextCell(const std::string& text) {
  std::string cell = text;
  std::ranges::replace_if(
      cell, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return cell;
}

// Code points: a sign like "\u00d7" is as wide as a letter.
size_t Width(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

std::string Aligned(const Table& table) {
  std::vector<size_t> widths;
  const Cells sides = Alignments(table, "l", "r");
  for (size_t column = 0; column < table.header.size(); ++column) {
    size_t width = Width(table.header[column]);
    for (const Cells& row : table.rows) width = std::max(width, Width(row[column]));
    widths.push_back(width);
  }
  const auto line = [&](const Cells& cells) {
    std::string text;
    for (size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - Width(cells[column]), ' ');
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
  switch (format) {
    case TableFormat::kCsv:
      return Csv(table);
    case TableFormat::kLatex:
      return Latex(WithoutEmptyColumns(table));
    case TableFormat::kMarkdown:
      return Markdown(WithoutEmptyColumns(table));
    case TableFormat::kText:
      break;
  }
  return Aligned(Written(WithoutEmptyColumns(table), TextCell));
}

}  // namespace grapevine
