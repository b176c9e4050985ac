#include "report/letters.h"

#include <algorithm>

namespace grapevine {
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
