#include "topology/files/parser_limits.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// Behind the next `mark`, or at the end.
size_t After(std::string_view text, size_t from, std::string_view mark) {
  const size_t found = text.find(mark, from);
  return found == std::string_view::npos ? text.size() : found + mark.size();
}

constexpr size_t kLongestString = 16384;  // bytes
constexpr int64_t kMaxBraces = 250;
constexpr int64_t kMaxAttributes = 250;

// Behind the string whose opening quote is at `from`.
size_t AfterString(std::string_view text, size_t from) {
  size_t at = from + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Behind the HTML text whose '<' is at `from`.
size_t AfterHtml(std::string_view text, size_t from) {
  int64_t depth = 0;
  for (size_t at = from; at < text.size(); ++at) {
    if (text[at] == '<') ++depth;
    if (text[at] == '>' && --depth == 0) return at + 1;
  }
  return text.size();
}

bool InWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || (c & 0x80) != 0; }

size_t AfterWord(std::string_view text, size_t from) {
  size_t at = from;
  while (at < text.size() && InWord(text[at])) ++at;
  return at;
}

class Limits {
 public:
  // A word or a string, with its quotes.
  std::string Text(std::string_view token) {
    if (token.size() > kLongestString) {
      return absl::StrCat("a string of more than ", kLongestString, " bytes");
    }
    if (!in_list_) {
      const std::string lower = absl::AsciiStrToLower(std::string(token.substr(0, 5)));
      of_all_ = lower == "node" || lower == "edge" || lower == "graph";
      return "";
    }
    // An attribute has a name, and often a value.
    int64_t& words = of_all_ ? words_of_all_ : words_of_one_;
    if (++words <= 2 * kMaxAttributes) return "";
    return absl::StrCat("more than ", kMaxAttributes,
                        of_all_ ? " default attributes" : " attributes of one edge or node");
  }

  std::string Mark(char c) {
    if (c == '[') {
      in_list_ = true;
      words_of_one_ = 0;
    }
    if (c == ']') in_list_ = false;
    if (c == '{' && ++braces_ > kMaxBraces) return absl::StrCat("more than ", kMaxBraces, " '{'");
    return "";
  }

 private:
  bool in_list_ = false;
  bool of_all_ = false;  // the list, or the one to come, belongs to "node", "edge" or "graph"
  int64_t words_of_all_ = 0;
  int64_t words_of_one_ = 0;
  int64_t braces_ = 0;
};

}  // namespace

std::string DotExcess(std::string_view text) {
  Limits limits;
  std::string excess;
  for (size_t at = 0; at < text.size() && excess.empty();) {
    const std::string_view here = text.substr(at);
    size_t end = at + 1;
    if (here.starts_with("//") || here.starts_with('#')) {
      end = After(text, at, "\n");
    } else if (here.starts_with("/*")) {
      end = After(text, at + 2, "*/");
    } else if (here.starts_with('"')) {
      end = AfterString(text, at);
      excess = limits.Text(text.substr(at, end - at));
    } else if (here.starts_with('<')) {
      end = AfterHtml(text, at);
      excess = limits.Text(text.substr(at, end - at));
    } else if (InWord(here[0])) {
      end = AfterWord(text, at);
      excess = limits.Text(text.substr(at, end - at));
    } else {
      excess = limits.Mark(here[0]);
    }
    at = end;
  }
  return excess;
}

}  // namespace grapevine
