#include "base/printable.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace grapevine {
namespace {

// Whether `text` begins with one of U+0080 to U+009F, which UTF-8 encodes as 0xC2 and one more
// byte. U+009B among them stands for ESC [.
bool BeginsWithPair(std::string_view text) {
  return text.size() >= 2 && static_cast<unsigned char>(text[0]) == 0xc2 &&
         static_cast<unsigned char>(text[1]) - 0x80u < 0x20;
}

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Returns the first `most` bytes of `text`, or fewer so as not to end inside a character.
std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && Continues(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace

size_t ControlLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x20 || byte == 0x7f) return 1;
  return BeginsWithPair(text) ? 2 : 0;
}

namespace {

// Replaces control characters by \xNN, except those for which `keeps` returns true.
std::string Escaped(std::string_view rest, bool (*keeps)(char)) {
  std::string result;
  while (!rest.empty()) {
    const size_t control = keeps(rest[0]) ? 0 : ControlLength(rest);
    if (control > 0) {
      absl::StrAppendFormat(&result, "\\x%02x", static_cast<unsigned char>(rest[control - 1]));
    } else {
      result.push_back(rest[0]);
    }
    rest.remove_prefix(std::max<size_t>(1, control));
  }
  return result;
}

}  // namespace

std::string Printable(std::string_view text, size_t most) {
  const std::string_view shown = Cut(text, most);
  return Escaped(shown, [](char) { return false; }) + (shown.size() < text.size() ? "..." : "");
}

std::string PrintableLines(std::string_view text) {
  return Escaped(text, [](char byte) { return byte == '\n'; });
}

}  // namespace grapevine
