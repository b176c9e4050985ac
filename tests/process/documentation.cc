#include "tests/process/documentation.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

namespace grapevine::testing {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kAnything = "…";
constexpr double kTolerance = 0.2;  // of numbers that differ from one kind of CPU to another

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// With one blank for many, and the same word for all times and speeds.
std::string Comparable(const std::string& line) {
  static const std::regex kTime(R"(\b\d[\d.]* (ns|us|µs|ms|s|min|h)( \d+ s)?(?![\w/]))");
  static const std::regex kSpeed(R"(\b\d[\d.]* samples/s)");
  static const std::regex kBlanks(R"(\s+)");
  const std::string timeless = std::regex_replace(line, kTime, "TIME");
  const std::string speedless = std::regex_replace(timeless, kSpeed, "SPEED");
  const std::string single = std::regex_replace(speedless, kBlanks, " ");
  const size_t begin = single.starts_with(' ') ? 1 : 0;
  return single.substr(begin,
                       single.size() - begin - (single.ends_with(' ') && begin < single.size()));
}

// Takes the number at the front away.
double TakeNumber(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(error == std::errc() ? end - text.data() : 1);
  return value;
}

// Of comparable lines. `last` is the character before both.
bool Alike(std::string_view shown, std::string_view line, char last = ' ') {
  if (shown.starts_with(kAnything)) {
    shown.remove_prefix(kAnything.size());
    for (size_t begin = 0; begin <= line.size(); ++begin) {
      if (Alike(shown, line.substr(begin), begin > 0 ? line[begin - 1] : last)) return true;
    }
    return false;
  }
  if (shown.empty() || line.empty()) return shown.empty() && line.empty();
  if (IsDigit(shown[0]) && IsDigit(line[0]) && !IsWord(last)) {
    const double wanted = TakeNumber(shown), found = TakeNumber(line);
    return std::abs(wanted - found) <= kTolerance * std::max(wanted, found) &&
           Alike(shown, line, '0');
  }
  return shown[0] == line[0] && Alike(shown.substr(1), line.substr(1), shown[0]);
}

}  // namespace

std::vector<std::string> Blocks(const std::string& page, const std::string& heading,
                                const std::string& language) {
  std::ifstream file(page);
  CHECK(file) << page;
  std::vector<std::string> blocks;
  bool found = false, in_section = false, in_block = false, wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kFence)) {
      in_block = !in_block;
      wanted = in_block && in_section && line.substr(kFence.size()) == language;
      if (wanted) blocks.emplace_back();
    } else if (wanted) {
      blocks.back() += line + "\n";
    } else if (!in_block && line.starts_with("#")) {
      in_section = line == heading;
      found |= in_section;
    }
  }
  CHECK(found) << page << " has no \"" << heading << "\"";
  return blocks;
}

std::vector<Step> Steps(const std::string& page) {
  std::ifstream file(page);
  CHECK(file) << page;
  std::vector<Step> steps;
  std::string* into = nullptr;
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with(kFence)) {
      in_block = !in_block;
      const std::string language = line.substr(kFence.size());
      into = nullptr;
      if (!in_block) continue;
      if (language == "sh") into = &steps.emplace_back(Step{.line = number}).commands;
      if (language == "text") {
        CHECK(!steps.empty()) << page << ":" << number << ": the output of nothing";
        into = &steps.back().shown;
      }
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
  return steps;
}

std::string FirstMissing(const std::string& shown, const std::string& output) {
  std::istringstream wanted(shown), found(output);
  for (std::string line; std::getline(wanted, line);) {
    const std::string comparable = Comparable(line);
    if (comparable.empty() || comparable == kAnything) continue;
    bool there = false;
    for (std::string other; !there && std::getline(found, other);) {
      there = Alike(comparable, Comparable(other));
    }
    if (!there) return line;
  }
  return "";
}

std::vector<HostCommand> Commands(const std::string& block) {
  constexpr std::string_view kPrompt = "$ ";
  std::vector<HostCommand> commands;
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = block.find('\n', begin);
    const std::string line = block.substr(begin, end - begin);
    begin = end + 1;
    const size_t prompt = line.find(kPrompt), blank = line.find(' ');
    if (prompt != std::string::npos && prompt < blank) {
      commands.push_back({line.substr(0, prompt), line.substr(prompt + kPrompt.size())});
    } else {
      CHECK(!commands.empty()) << "no prompt: " << line;
      commands.back().command += "\n" + line;  // after a line that ends in a backslash
    }
  }
  return commands;
}

}  // namespace grapevine::testing
