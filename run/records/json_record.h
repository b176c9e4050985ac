// A flat struct as a JSON object. One table of its members serves writing and reading, so that the
// two cannot drift apart.
//
// Reading is safe on hostile input: it checks the type and range of each member, ignores unknown
// ones, and treats null as absent. NaN and infinity are written as null, since JSON has neither.
#ifndef GRAPEVINE_RUN_RECORDS_JSON_RECORD_H_
#define GRAPEVINE_RUN_RECORDS_JSON_RECORD_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace grapevine {

// The table is a generic function that calls visit(name, member) for each
// member of a record, const or not:
//
//   constexpr auto kMembers = [](auto& record, auto&& visit) {
//     visit("round", record.round);
//   };
//
// A std::optional member is omitted while it has no value; all others are required.

namespace json_record_internal {

// Stores the value that `json` holds. Returns false if `json` holds no value of that type.
inline bool Read(const nlohmann::json& json, double* value) {
  if (!json.is_number()) return false;
  *value = json.get<double>();
  return true;
}

inline bool Read(const nlohmann::json& json, int64_t* value) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return false;
  }
  *value = json.get<int64_t>();
  return true;
}

inline bool Read(const nlohmann::json& json, bool* value) {
  if (!json.is_boolean()) return false;
  *value = json.get<bool>();
  return true;
}

inline bool Read(const nlohmann::json& json, std::string* value) {
  if (!json.is_string()) return false;
  *value = json.get<std::string>();
  return true;
}

// The largest list accepted: far more than any list of a record has, the longest of which have an
// entry for each server.
inline constexpr size_t kMaxListed = size_t{1} << 20;

template <typename Value>
bool Read(const nlohmann::json& json, std::vector<Value>* values) {
  if (!json.is_array() || json.size() > kMaxListed) return false;
  for (const nlohmann::json& value : json) {
    if (!Read(value, &values->emplace_back())) return false;
  }
  return true;
}

template <typename Value>
bool Read(const nlohmann::json& json, std::optional<Value>* value) {
  return Read(json, &value->emplace());
}

template <typename Value>
struct IsOptional : std::false_type {};
template <typename Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

}  // namespace json_record_internal

template <typename Record, typename Members>
nlohmann::ordered_json ToJson(const Record& record, const Members& members) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  members(record, [&json](const char* name, const auto& value) {
    if constexpr (json_record_internal::IsOptional<std::decay_t<decltype(value)>>::value) {
      if (value) json[name] = *value;
    } else {
      json[name] = value;
    }
  });
  return json;
}

// Returns the text of `json`, on one line for indent = -1. Bytes that are not UTF-8, for example in
// a path, become U+FFFD.
inline std::string Dump(const nlohmann::ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Reads a record by the table of its members. Errors name the member, not the file.
template <typename Record, typename Members>
absl::StatusOr<Record> FromJson(const nlohmann::json& json, const Members& members) {
  if (!json.is_object()) return absl::InvalidArgumentError("is not a JSON object");
  Record record;
  std::string error;
  members(record, [&](const char* name, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const auto found = json.find(name);
    if (!error.empty()) return;
    if (found == json.end() || found->is_null()) {
      if (!json_record_internal::IsOptional<Value>::value) {
        error = absl::StrCat("has no \"", name, "\"");
      }
    } else if (!json_record_internal::Read(*found, &value)) {
      error = absl::StrCat("\"", name, "\" has a value of the wrong type or range");
    }
  });
  if (!error.empty()) return absl::InvalidArgumentError(error);
  return record;
}

// Reads a record from the text of a JSON object; see FromJson.
template <typename Record, typename Members>
absl::StatusOr<Record> FromJsonText(std::string_view text, const Members& members) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not valid JSON");
  return FromJson<Record>(json, members);
}

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_JSON_RECORD_H_
