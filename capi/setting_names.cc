#include "capi/setting_names.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"

namespace grapevine {
namespace {

bool IsInName(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; }

// Returns whether the text before a flag ends with the program and its command.
bool IsCommand(std::string_view before) {
  if (!before.ends_with(' ')) return false;
  before.remove_suffix(1);
  const size_t command = before.find_last_of(' ') + 1;
  return before.substr(0, command).ends_with("grapevine ");
}

// Returns whether two dashes stand at `at`, followed by the name of a setting.
bool BeginsFlag(std::string_view message, size_t at) {
  constexpr std::string_view kOpening = " \n(\"'`";
  if (message.substr(at, 2) != "--" || at + 2 >= message.size()) return false;
  if (!absl::ascii_islower(message[at + 2])) return false;
  if (at > 0 && kOpening.find(message[at - 1]) == std::string_view::npos) return false;
  return !IsCommand(message.substr(0, at));
}

}  // namespace

std::string WithSettingNames(std::string_view message) {
  std::string named;
  size_t at = 0;
  while (at < message.size()) {
    if (!BeginsFlag(message, at)) {
      named += message[at++];
      continue;
    }
    const auto begin = message.begin() + at + 2;
    const auto end = std::find_if_not(begin, message.end(), IsInName);
    std::replace_copy(begin, end, std::back_inserter(named), '-', '_');
    at = end - message.begin();
  }
  return named;
}

}  // namespace grapevine
