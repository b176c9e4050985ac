#include "run/config/config_field.h"

#include <glog/logging.h>
#include <google/protobuf/reflection.h>

#include <charconv>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/registry.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {
namespace {

absl::Status Not(std::string_view what, std::string_view text) {
  return UsageError(absl::StrCat("\"", std::string(text), "\" is not ", std::string(what)));
}

// Returns the canonical text of a string field of this kind.
absl::StatusOr<std::string> Canonical(Kind kind, std::string_view text) {
  if (text.empty()) {
    return UsageError("the value is empty");
  }
  if (kind == SIZE) {
    ASSIGN_OR_RETURN(const int64_t bytes, ParseSize(text));
    return FormatSize(bytes);
  }
  if (kind == BANDWIDTH) {
    ASSIGN_OR_RETURN(const int64_t rate, ParseBandwidth(text));
    return FormatBandwidth(rate);
  }
  if (kind == DURATION || (kind == TIMING && absl::ascii_isdigit(text.front()))) {
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds duration, ParseDuration(text));
    return FormatDuration(duration);
  }
  return std::string(text);
}

absl::StatusOr<double> ParseNumber(Kind kind, std::string_view text) {
  if (kind == FRACTION) return ParseFraction(text);
  double value = 0;
  if (!absl::SimpleAtod(std::string(text), &value)) return Not("a number", text);
  return value;
}

template <typename Integer>
absl::StatusOr<Integer> ParseInteger(std::string_view text) {
  Integer value = 0;
  if (!absl::SimpleAtoi(std::string(text), &value)) {
    return Not(absl::StrCat("a ", std::is_signed_v<Integer> ? "" : "non-negative ",
                            "whole number of ", sizeof(Integer) * 8, " bits"),
               text);
  }
  return value;
}

// Returns the shortest text that reads back as the same number.
std::string NumberText(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  CHECK(error == std::errc());
  return std::string(buffer, end);
}

// Stores a parsed value with a setter of Reflection.
template <typename Value, typename Setter>
absl::Status Store(const absl::StatusOr<Value>& value, const ConfigField& field, Setter setter,
                   Config* config) {
  RETURN_IF_ERROR(value.status());
  (config->GetReflection()->*setter)(config, &field, *value);
  return absl::OkStatus();
}

std::string AsFlag(const std::string& name) {
  return absl::StrCat("--", absl::StrReplaceAll(name, {{"_", "-"}}));
}

absl::Status AddElements(const ConfigField& field, std::string_view text, Config* config) {
  ClearField(field, config);
  const std::vector<std::string> elements = absl::StrSplit(std::string(text), ',');
  for (const std::string& element : elements) {
    ASSIGN_OR_RETURN(const std::string canonical, Canonical(InfoOf(field).kind(), element));
    config->GetReflection()->AddString(config, &field, canonical);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<const ConfigField*> ConfigFields() {
  std::vector<const ConfigField*> fields;
  const google::protobuf::Descriptor& descriptor = *Config::descriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) fields.push_back(descriptor.field(i));
  return fields;
}

const ConfigField& ConfigFieldNamed(std::string_view name) {
  const ConfigField* field = Config::descriptor()->FindFieldByName(std::string(name));
  CHECK(field != nullptr) << "config.proto has no field " << name;
  return *field;
}

const ConfigField* ConfigFieldMeantBy(std::string_view name) {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) {
    names.push_back(field->name());
    for (const std::string& alias : InfoOf(*field).alias()) {
      if (alias == name) return field;
    }
  }
  const std::string nearest = NearestName(name, names);
  return nearest.empty() ? nullptr : &ConfigFieldNamed(nearest);
}

const FieldInfo& InfoOf(const ConfigField& field) { return field.options().GetExtension(info); }

std::string FlagName(const ConfigField& field) { return AsFlag(field.name()); }

std::vector<std::string> FlagAliases(const ConfigField& field) {
  std::vector<std::string> flags;
  for (const std::string& alias : InfoOf(field).alias()) flags.push_back(AsFlag(alias));
  return flags;
}

std::string VariableName(const ConfigField& field) {
  return absl::StrCat("GRAPEVINE_", absl::AsciiStrToUpper(field.name()));
}

bool IsSwitch(const ConfigField& field) { return field.cpp_type() == ConfigField::CPPTYPE_BOOL; }

bool DescribesRun(const ConfigField& field) {
  const Section section = InfoOf(field).section();
  const bool time_out = section == RUNTIME && InfoOf(field).kind() == DURATION;
  return section != CLUSTER && section != RECORD && !time_out;
}

bool HasField(const ConfigField& field, const Config& config) {
  const google::protobuf::Reflection& reflection = *config.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(config, &field) > 0
                             : reflection.HasField(config, &field);
}

void ClearField(const ConfigField& field, Config* config) {
  config->GetReflection()->ClearField(config, &field);
}

absl::Status SetField(const ConfigField& field, std::string_view text, Config* config) {
  using google::protobuf::Reflection;
  const Kind kind = InfoOf(field).kind();
  if (field.is_repeated()) return AddElements(field, text, config);
  switch (field.cpp_type()) {
    case ConfigField::CPPTYPE_STRING:
      return Store(Canonical(kind, text), field, &Reflection::SetString, config);
    case ConfigField::CPPTYPE_DOUBLE:
      return Store(ParseNumber(kind, text), field, &Reflection::SetDouble, config);
    case ConfigField::CPPTYPE_INT32:
      return Store(ParseInteger<int32_t>(text), field, &Reflection::SetInt32, config);
    case ConfigField::CPPTYPE_INT64:
      return Store(ParseInteger<int64_t>(text), field, &Reflection::SetInt64, config);
    case ConfigField::CPPTYPE_UINT64:
      return Store(ParseInteger<uint64_t>(text), field, &Reflection::SetUInt64, config);
    case ConfigField::CPPTYPE_BOOL: {
      bool value = false;
      if (!absl::SimpleAtob(std::string(text), &value)) return Not("true or false", text);
      config->GetReflection()->SetBool(config, &field, value);
      return absl::OkStatus();
    }
    default:
      return absl::InternalError(absl::StrCat("no text form for a ", field.type_name()));
  }
}

std::string FieldText(const ConfigField& field, const Config& config) {
  const google::protobuf::Reflection& reflection = *config.GetReflection();
  if (field.is_repeated()) {
    return absl::StrJoin(reflection.GetRepeatedFieldRef<std::string>(config, &field), ",");
  }
  if (!HasField(field, config) && !field.has_default_value()) return "";
  switch (field.cpp_type()) {
    case ConfigField::CPPTYPE_STRING:
      return reflection.GetString(config, &field);
    case ConfigField::CPPTYPE_DOUBLE:
      return NumberText(reflection.GetDouble(config, &field));
    case ConfigField::CPPTYPE_INT32:
      return absl::StrCat(reflection.GetInt32(config, &field));
    case ConfigField::CPPTYPE_INT64:
      return absl::StrCat(reflection.GetInt64(config, &field));
    case ConfigField::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(config, &field));
    case ConfigField::CPPTYPE_BOOL:
      return reflection.GetBool(config, &field) ? "true" : "false";
    default:
      LOG(FATAL) << field.name() << ": no text form for a " << field.type_name();
  }
}

std::chrono::nanoseconds ResolvedDuration(std::string_view text) {
  const absl::StatusOr<std::chrono::nanoseconds> duration = ParseDuration(text);
  CHECK(duration.ok()) << duration.status().message();
  return *duration;
}

std::chrono::milliseconds ResolvedTimeout(std::string_view text) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(ResolvedDuration(text));
}

}  // namespace grapevine
