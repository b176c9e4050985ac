#include "base/spec.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace grapevine {
namespace {

bool IsKeyCharacter(char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '_';
}

// Returns the length of the key in "key=value", or 0 if the field is an argument.
size_t KeyLength(std::string_view field) {
  const size_t equals = field.find('=');
  if (equals == std::string_view::npos) return 0;
  return std::all_of(field.begin(), field.begin() + equals, IsKeyCharacter) ? equals : 0;
}

absl::Status AddField(std::string_view field, Spec* spec) {
  if (field.empty()) return SpecError(spec->text, "empty field between colons");
  const size_t length = KeyLength(field);
  if (length == 0) {
    spec->arguments.emplace_back(field);
    return absl::OkStatus();
  }
  const std::string key(field.substr(0, length));
  const std::string value(field.substr(length + 1));
  if (value.empty()) return SpecError(spec->text, absl::StrCat("option ", key, " has no value"));
  if (!spec->options.emplace(key, value).second) {
    return SpecError(spec->text, absl::StrCat("option ", key, " is given twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SpecError(std::string_view text, std::string_view message) {
  return UsageError(absl::StrCat(std::string(text), ": ", std::string(message)));
}

absl::StatusOr<Spec> ParseSpec(std::string_view text) {
  std::vector<std::string> fields = absl::StrSplit(std::string(text), ':');
  Spec spec{.text = std::string(text), .name = fields[0], .arguments = {}, .options = {}};
  if (spec.name.empty()) return SpecError("'" + spec.text + "'", "a name is missing");
  for (size_t i = 1; i < fields.size(); ++i) {
    RETURN_IF_ERROR(AddField(fields[i], &spec));
  }
  return spec;
}

absl::StatusOr<Spec> ParseSpecWithTail(std::string_view text) {
  const size_t colon = text.find(':');
  Spec spec{.text = std::string(text),
            .name = std::string(text.substr(0, colon)),
            .arguments = {},
            .options = {}};
  if (spec.name.empty()) return SpecError("'" + spec.text + "'", "a name is missing");
  if (colon != text.npos) spec.arguments.emplace_back(text.substr(colon + 1));
  return spec;
}

absl::StatusOr<std::vector<std::string>> SplitSpecList(std::string_view list) {
  std::vector<std::string> cells = absl::StrSplit(std::string(list), ',');
  for (std::string& cell : cells) {
    absl::StripAsciiWhitespace(&cell);
    if (cell.empty()) {
      return SpecError("'" + std::string(list) + "'", "empty entry in a comma-separated list");
    }
  }
  return cells;
}

std::string SpecReader::Argument(std::string_view fallback) {
  if (next_argument_ < spec_.arguments.size()) return spec_.arguments[next_argument_++];
  return std::string(fallback);
}

int64_t SpecReader::Integer(std::string_view key, int64_t fallback, int64_t min, int64_t max) {
  const std::string* text = Find(key);
  if (text == nullptr) return fallback;
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value)) {
    Refuse(key, absl::StrCat("'", *text, "' is not an integer"));
  } else if (value < min) {
    Refuse(key, absl::StrCat(value, " is less than ", min));
  } else if (value > max) {
    Refuse(key, absl::StrCat(value, " is more than ", max));
  } else {
    return value;
  }
  return fallback;
}

double SpecReader::Real(std::string_view key, double fallback, double min, double max) {
  const std::string* text = Find(key);
  if (text == nullptr) return fallback;
  double value = 0;
  if (!absl::SimpleAtod(*text, &value) || !std::isfinite(value)) {
    Refuse(key, absl::StrCat("'", *text, "' is not a finite number"));
  } else if (value < min) {
    Refuse(key, absl::StrCat(*text, " is less than ", min));
  } else if (value > max) {
    Refuse(key, absl::StrCat(*text, " is more than ", max));
  } else {
    return value;
  }
  return fallback;
}

std::string SpecReader::Text(std::string_view key, std::string_view fallback) {
  const std::string* text = Find(key);
  return text != nullptr ? *text : std::string(fallback);
}

std::string SpecReader::Choice(std::string_view key, const std::vector<std::string>& choices) {
  const std::string* text = Find(key);
  if (text == nullptr) return choices.front();
  if (std::find(choices.begin(), choices.end(), *text) != choices.end()) return *text;
  Refuse(key, absl::StrCat("'", *text, "' is not one of ", absl::StrJoin(choices, ", ")));
  return choices.front();
}

absl::Status SpecReader::Finish() {
  RETURN_IF_ERROR(status_);
  if (next_argument_ < spec_.arguments.size()) {
    const std::string& argument = spec_.arguments[next_argument_];
    const bool keyless = known_.size() == 1 && spec_.options.empty();  // only one key is possible
    return SpecError(spec_.text, absl::StrCat("unexpected '", argument, "'",
                                              keyless ? absl::StrCat("; did you mean ", known_[0],
                                                                     "=", argument, "?")
                                                      : ""));
  }
  for (const auto& [key, value] : spec_.options) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    return SpecError(
        spec_.text,
        absl::StrCat("unknown option '", key, "'; ", spec_.name,
                     known_.empty() ? " takes none" : " knows " + absl::StrJoin(known_, ", ")));
  }
  return absl::OkStatus();
}

const std::string* SpecReader::Find(std::string_view key) {
  known_.emplace_back(key);
  const auto option = spec_.options.find(std::string(key));
  return option != spec_.options.end() ? &option->second : nullptr;
}

void SpecReader::Refuse(std::string_view key, std::string_view why) {
  status_.Update(
      SpecError(spec_.text, absl::StrCat("option ", std::string(key), ": ", std::string(why))));
}

}  // namespace grapevine
