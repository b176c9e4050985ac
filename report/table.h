// A table of texts, printed for programs, for papers or for people, and the room that a text takes.
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
// The formats that --format accepts.
inline constexpr NamedTableFormat kTableFormats[] = {{"text", TableFormat::kText},
                                                     {"csv", TableFormat::kCsv},
                                                     {"latex", TableFormat::kLatex},
                                                     {"markdown", TableFormat::kMarkdown},
                                                     {"booktabs", TableFormat::kBooktabs}};

// Returns the table in `format`, with a line break after every line. Columns of numbers are aligned
// at the right. Formats other than CSV leave out columns that are empty in every row. Characters
// that mean something to the format are escaped, and those that would steer a terminal become
// blanks.
std::string TableText(const Table& table, TableFormat format);

// Returns the room that a UTF-8 text takes, in code points: a sign like "\u00d7" is as wide as a
// letter.
size_t LetterCount(const std::string& text);

// Returns `text`; if it has more than `most` letters (at least three), it is cut between letters to
// end in "...".
std::string Fitting(std::string text, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_TABLE_H_
