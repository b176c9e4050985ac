#include "node/identity/host_list.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "system/file.h"

namespace grapevine {
namespace {

// Ports below this are the system's, and no machine has so many slots.
constexpr int kFirstPort = 1024;

struct Entry {
  HostAddress address;  // port 0: none
  int slots = 1;
};

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(std::string(what)); }

bool ParseSlots(std::string_view text, int* slots) { return ParsePort(text, slots) && *slots > 0; }

// "node", "node:4", "node:29500", "[v6]:29500".
absl::StatusOr<Entry> ParseHost(std::string_view text) {
  Entry entry;
  if (text.find(':') == std::string_view::npos) {
    entry.address.host = std::string(text);
    return entry;
  }
  ASSIGN_OR_RETURN(HostAddress address, ParseHostAddress(text));
  if (address.host.empty()) return Wrong(absl::StrCat("\"", std::string(text), "\" has no host"));
  if (address.port == 0) {
    return Wrong(absl::StrCat("\"", std::string(text), "\": neither a port nor slots may be 0"));
  }
  if (address.port < kFirstPort) {
    entry.slots = std::exchange(address.port, 0);
  }
  entry.address = std::move(address);
  return entry;
}

absl::StatusOr<Entry> ParseLine(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(std::string(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  ASSIGN_OR_RETURN(Entry entry, ParseHost(words[0]));
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    // Open MPI's limit for oversubscribing a host, which we do not use.
    if (option.first == "max_slots" || option.first == "max-slots") continue;
    if (option.first != "slots") {
      return Wrong(
          absl::StrCat("unknown option \"", words[i], "\"; only slots=N may follow a host"));
    }
    if (!ParseSlots(option.second, &entry.slots)) {
      return Wrong(absl::StrCat("\"", words[i], "\": slots are a number from 1 to 65535"));
    }
  }
  if (entry.address.port != 0 && entry.slots > 1) {
    return Wrong(absl::StrCat("\"", words[0], "\" cannot share one port among ", entry.slots,
                              " slots; give each a line with a port of its own, or no port"));
  }
  return entry;
}

absl::Status Append(const Entry& entry, HostSlots* slots) {
  if (slots->size() + static_cast<size_t>(entry.slots) > kMaxHostSlots) {
    return Wrong(absl::StrCat("more than ", kMaxHostSlots, " nodes"));
  }
  if (entry.address.port != 0 &&
      std::find(slots->begin(), slots->end(), entry.address) != slots->end()) {
    return Wrong(absl::StrCat(FormatHostAddress(entry.address), " appears twice"));
  }
  slots->insert(slots->end(), static_cast<size_t>(entry.slots), entry.address);
  return absl::OkStatus();
}

absl::Status AppendLine(std::string_view line, HostSlots* slots) {
  const absl::StatusOr<Entry> entry = ParseLine(line);
  return entry.ok() ? Append(*entry, slots) : entry.status();
}

absl::Status At(const std::string& where, const absl::Status& status, Failure failure) {
  return WithFailure(absl::InvalidArgumentError(absl::StrCat(where, ": ", status.message())),
                     failure);
}

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

absl::StatusOr<HostSlots> ReadHostfile(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const std::span<const uint8_t> bytes = (*file)->bytes();
  const std::string text(bytes.begin(), bytes.end());
  HostSlots slots;
  int number = 0;
  for (const std::string& raw : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(raw.substr(0, raw.find('#'))));
    if (line.empty()) continue;
    if (absl::Status status = AppendLine(line, &slots); !status.ok()) {
      return At(absl::StrCat(path, ":", number), status, Failure::kInput);
    }
  }
  if (slots.empty()) return At(path, Wrong("names no host"), Failure::kInput);
  return slots;
}

absl::StatusOr<HostSlots> ParseHostList(std::string_view list) {
  HostSlots slots;
  for (const std::string& item : std::vector<std::string>(absl::StrSplit(std::string(list), ','))) {
    const std::string host(absl::StripAsciiWhitespace(item));
    const absl::Status status = host.empty() ? Wrong("an item is empty") : AppendLine(host, &slots);
    if (!status.ok()) return At(absl::StrCat("-H ", std::string(list)), status, Failure::kUsage);
  }
  return slots;
}

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
