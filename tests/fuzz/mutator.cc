#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine::fuzz {
namespace {

constexpr size_t kLongest = 1 << 16;

// Where parsers go wrong: zero, signs, limits, structure, and what is no text.
const char* const kPieces[] = {"0",     "-1",   "9223372036854775808",
                               "1e999", "nan",  "\"",
                               "\\",    "{",    "}",
                               "[",     "]",    "<",
                               ">",     ":",    "=",
                               ",",     "\n",   "#",
                               "\xff",  "\xc3", "%",
                               "/",     "..",   " "};

std::string Part(const std::string& text, KeyedRandom& random) {
  if (text.empty()) return "";
  const size_t from = random.Below(text.size());
  return text.substr(from, 1 + random.Below(std::min<size_t>(text.size() - from, 32)));
}

void Change(const std::string& other, KeyedRandom& random, std::string* text) {
  const size_t at = random.Below(text->size() + 1);
  const size_t left = text->size() - at;
  switch (random.Below(6)) {
    case 0:
      if (left > 0) (*text)[at] = static_cast<char>((*text)[at] ^ (1 << random.Below(8)));
      return;
    case 1:
      if (left > 0) (*text)[at] = static_cast<char>(random.Below(256));
      return;
    case 2:
      text->erase(at, 1 + random.Below(std::min<size_t>(left, 32) + 1));
      return;
    case 3:
      text->insert(at, Part(*text, random));
      return;
    case 4:
      text->insert(at, Part(other, random));
      return;
    default:
      text->insert(at, kPieces[random.Below(std::size(kPieces))]);
  }
}

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, uint64_t seed)
    : seeds_(std::move(seeds)), seed_(seed) {}

std::string Mutator::Input(uint64_t number) const {
  KeyedRandom random(seed_, Purpose::kSyntheticData, number);
  std::string text = seeds_[random.Below(seeds_.size())];
  const std::string& other = seeds_[random.Below(seeds_.size())];
  for (uint64_t left = 1 + random.Below(8); left > 0; --left) Change(other, random, &text);
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

}  // namespace grapevine::fuzz
