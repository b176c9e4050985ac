// A table of texts, as it is printed for programs, for papers and for people, and how much room a
// text takes.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_TABLE_H_
#define GRAPEVINE_REPORT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace grapevine {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
};

enum class TableFormat {
  kText,      // aligned, for a terminal
  kCsv,       // RFC 4180, with a header
  kLatex,     // a tabular that needs no package (of LaTeX since 2020)
  kMarkdown,  // with pipes
  kBooktabs,  // a tabular with the rules of LaTeX's package booktabs
};

struct NamedTableFormat {
  const char* name;
  TableFormat format;
};
// What --format may be.
inline constexpr NamedTableFormat kTableFormats[] = {{"text", TableFormat::kText},
                                                     {"csv", TableFormat::kCsv},
                                                     {"latex", TableFormat::kLatex},
                                                     {"markdown", TableFormat::kMarkdown},
                                                     {"booktabs", TableFormat::kBooktabs}};

// Every line with its break. Columns of numbers are aligned at the right; except in CSV, those
// that are empty in every row are left out. What means something to the format is escaped, and what
// would steer a terminal is blanked.
std::string TableText(const Table& table, TableFormat format);

// How much room a text takes: code points of UTF-8. A sign like "\u00d7" is as wide as a letter.
size_t LetterCount(const std::string& text);

// `text`, cut between letters to end in "..." if it has more than `most` of them (at least three).
std::string Fitting(std::string text, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_TABLE_H_
