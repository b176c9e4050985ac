#include "topology/files/dot_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/byte_order_mark.h"

namespace grapevine {
namespace {

// Returns the position behind the next `mark`, or the end of the text.
size_t After(std::string_view text, size_t from, std::string_view mark) {
  const size_t found = text.find(mark, from);
  return found == std::string_view::npos ? text.size() : found + mark.size();
}

constexpr size_t kLongestString = 16384;  // bytes
constexpr int64_t kMaxBraces = 250;
constexpr int64_t kMaxAttributes = 250;

// Returns the position behind the string whose opening quote is at `from`.
size_t AfterString(std::string_view text, size_t from) {
  size_t at = from + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Returns the position behind the HTML text whose '<' is at `from`.
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

enum class TokenKind { kComment, kQuoted, kHtml, kWord, kMark };
struct Token {
  TokenKind kind;
  std::string_view text;  // as it stands in the file, with its quotes; never empty
};

bool IsText(TokenKind kind) { return kind != TokenKind::kComment && kind != TokenKind::kMark; }

// Returns the token at `from`. A mark is one byte; blanks are marks, too.
Token TokenAt(std::string_view text, size_t from) {
  const std::string_view here = text.substr(from);
  const auto token = [&](TokenKind kind, size_t end) {
    return Token{kind, text.substr(from, end - from)};
  };
  if (here.starts_with("//") || here.starts_with('#')) {
    return token(TokenKind::kComment, After(text, from, "\n"));
  }
  if (here.starts_with("/*")) return token(TokenKind::kComment, After(text, from + 2, "*/"));
  if (here[0] == '"') return token(TokenKind::kQuoted, AfterString(text, from));
  if (here[0] == '<') return token(TokenKind::kHtml, AfterHtml(text, from));
  if (InWord(here[0])) return token(TokenKind::kWord, AfterWord(text, from));
  return token(TokenKind::kMark, from + 1);
}

std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Thread-compatible.
class Translator {
 public:
  void Add(const Token& token) {
    if (token.kind == TokenKind::kHtml) {
      text_ += InQuotes(token.text);
    } else if (token.kind == TokenKind::kWord && !IsAscii(token.text)) {
      text_ += InQuotes(token.text);
    } else {
      if (token.text == "{" && within_ && !named_ && !announced_) text_ += "subgraph ";
      text_ += token.text;
    }
    Follow(token);
  }
  const std::string& text() const { return text_; }

 private:
  static bool IsAscii(std::string_view word) {
    return std::ranges::none_of(word, [](char c) { return (c & 0x80) != 0; });
  }

  // Notes what a brace behind `token` needs to know.
  void Follow(const Token& token) {
    const bool blank = token.kind == TokenKind::kMark && absl::ascii_isspace(token.text[0]);
    if (token.kind == TokenKind::kComment || blank) return;
    within_ |= token.text == "{";
    named_ = announced_ && IsText(token.kind);
    announced_ = token.kind == TokenKind::kWord &&
                 absl::AsciiStrToLower(std::string(token.text)) == "subgraph";
  }

  std::string text_;
  bool within_ = false;     // the graph's own brace is open
  bool announced_ = false;  // "subgraph" comes directly before
  bool named_ = false;      // "subgraph" and its name come directly before
};

class Limits {
 public:
  // Takes a word or a string, with its quotes. Names what is too much, or returns "".
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
  bool of_all_ = false;  // the list, or the next one, belongs to "node", "edge" or "graph"
  int64_t words_of_all_ = 0;
  int64_t words_of_one_ = 0;
  int64_t braces_ = 0;
};

}  // namespace

std::string DotExcess(std::string_view text) {
  Limits limits;
  std::string excess;
  for (size_t at = 0; at < text.size() && excess.empty();) {
    const Token token = TokenAt(text, at);
    if (token.kind == TokenKind::kMark) excess = limits.Mark(token.text[0]);
    if (IsText(token.kind)) excess = limits.Text(token.text);
    at += token.text.size();
  }
  return excess;
}

std::string InBoostsDot(std::string_view text) {
  Translator translator;
  text = WithoutByteOrderMark(text);
  for (size_t at = 0; at < text.size();) {
    const Token token = TokenAt(text, at);
    translator.Add(token);
    at += token.text.size();
  }
  return translator.text();
}

}  // namespace grapevine
