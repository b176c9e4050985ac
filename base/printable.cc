#include "base/printable.h"

#include "absl/strings/str_format.h"

namespace grapevine {
namespace {

bool IsControl(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

// U+0080 to U+009F: 0xC2 and one byte more. ESC [ is U+009B among them.
bool IsControl(std::string_view pair) {
  return pair.size() == 2 && static_cast<unsigned char>(pair[0]) == 0xc2 &&
         static_cast<unsigned char>(pair[1]) < 0xa0;
}

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// At most `most` bytes, and no part of a character.
std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && Continues(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace

std::string Printable(std::string_view text, size_t most) {
  const std::string_view shown = Cut(text, most);
  std::string result;
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    if (IsControl(shown.substr(i, 2))) {
      absl::StrAppendFormat(&result, "\\x%02x", static_cast<unsigned char>(shown[++i]));
    } else if (IsControl(byte)) {
      absl::StrAppendFormat(&result, "\\x%02x", byte);
    } else {
      result.push_back(shown[i]);
    }
  }
  if (shown.size() < text.size()) result += "...";
  return result;
}

}  // namespace grapevine
