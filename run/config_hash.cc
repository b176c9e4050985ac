#include "run/config_hash.h"

#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "run/config_field.h"

namespace grapevine {
namespace {

std::map<std::string, std::string> Lines(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const auto& line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> value = absl::StrSplit(line, absl::MaxSplits('=', 1));
    values.insert(value);
  }
  return values;
}

std::string Quoted(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto value = values.find(name);
  if (value == values.end() || value->second.empty()) return "not set";
  constexpr size_t kMost = 80;
  return absl::CEscape(value->second.substr(0, kMost));
}

}  // namespace

std::string ExperimentText(const Config& config) {
  std::string text;
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != EXPERIMENT) continue;
    // A run of R rounds has no epochs, whatever their default.
    const bool void_epochs = field->name() == "epochs" && config.has_rounds();
    absl::StrAppend(&text, field->name(), "=",
                    void_epochs ? "" : absl::CEscape(FieldText(*field, config)), "\n");
  }
  return text;
}

uint64_t ConfigHash(const Config& config) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : ExperimentText(config)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

std::string ExperimentDifference(const std::string& here, const std::string& there) {
  const auto ours = Lines(here);
  const auto theirs = Lines(there);
  std::string difference;
  // Our own names alone: a stranger's cannot reach the message.
  for (const auto& [name, value] : ours) {
    const auto other = theirs.find(name);
    if (other != theirs.end() && other->second == value) continue;
    absl::StrAppend(&difference, difference.empty() ? "" : "; ", name, " is ", Quoted(ours, name),
                    " here, ", Quoted(theirs, name), " there");
  }
  if (difference.empty() && here != there) return "the other node knows other settings";
  return difference;
}

}  // namespace grapevine
