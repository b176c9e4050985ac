#include "node/identity/slurm_nodelist.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/failure.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// Wide enough for every cluster, narrow enough not to overflow.
constexpr size_t kMaxDigits = 9;

absl::Status Malformed(std::string_view list, std::string_view what) {
  return UsageError(
      absl::StrCat("Slurm host list \"", std::string(list), "\": ", std::string(what)));
}

bool ParseNumber(std::string_view text, int64_t* number) {
  if (text.empty() || text.size() > kMaxDigits) return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(std::string(text), number);
}

// "001" or "001-003": appends each number with the width of the first. False
// when it is malformed or too long.
bool AppendRange(std::string_view range, std::vector<std::string>* numbers) {
  const size_t dash = range.find('-');
  const std::string_view low_text = range.substr(0, dash);
  const std::string_view high_text =
      dash == std::string_view::npos ? low_text : range.substr(dash + 1);
  int64_t low, high;
  if (!ParseNumber(low_text, &low) || !ParseNumber(high_text, &high) || high < low ||
      high - low >= static_cast<int64_t>(kMaxSlurmHosts)) {
    return false;
  }
  for (int64_t number = low; number <= high; ++number) {
    std::string text = absl::StrCat(number);
    if (text.size() < low_text.size()) text.insert(0, low_text.size() - text.size(), '0');
    numbers->push_back(std::move(text));
  }
  return true;
}

// Expands "node[001-003,7]x[0-1]", one item between top-level commas.
absl::StatusOr<std::vector<std::string>> ExpandItem(std::string_view list, std::string_view item) {
  std::vector<std::string> hosts = {""};
  while (!item.empty()) {
    const size_t open = item.find('[');
    for (std::string& host : hosts) host += std::string(item.substr(0, open));
    if (open == std::string_view::npos) break;
    const size_t close = item.find(']', open);
    if (close == std::string_view::npos) return Malformed(list, "a bracket is not closed");
    std::vector<std::string> numbers;
    const std::string inside(item.substr(open + 1, close - open - 1));
    for (const std::string& range : std::vector<std::string>(absl::StrSplit(inside, ','))) {
      if (!AppendRange(range, &numbers)) {
        return Malformed(list, absl::StrCat("\"", range, "\" is not a range of numbers"));
      }
      if (numbers.size() * hosts.size() > kMaxSlurmHosts) return Malformed(list, "too many hosts");
    }
    std::vector<std::string> longer;
    for (const std::string& host : hosts) {
      for (const std::string& number : numbers) longer.push_back(host + number);
    }
    hosts = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return hosts;
}

// Splits at commas outside brackets.
std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> items;
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') inside = true;
    if (i < list.size() && list[i] == ']') inside = false;
    if (i == list.size() || (list[i] == ',' && !inside)) {
      items.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return items;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandSlurmNodelist(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view item : Items(list)) {
    if (item.empty()) return Malformed(list, "an item is empty");
    if (item.find(']') < item.find('[')) return Malformed(list, "a bracket is not opened");
    ASSIGN_OR_RETURN(std::vector<std::string> expanded, ExpandItem(list, item));
    hosts.insert(hosts.end(), expanded.begin(), expanded.end());
    if (hosts.size() > kMaxSlurmHosts) return Malformed(list, "too many hosts");
  }
  return hosts;
}

}  // namespace grapevine
