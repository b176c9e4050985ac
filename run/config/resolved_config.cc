#include "run/config/resolved_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "run/config/config_field.h"

namespace grapevine {

std::string PrintResolved(const ResolvedConfig& resolved, const std::set<std::string>& idle) {
  std::string text;
  std::string group;
  for (const ConfigField* field : ConfigFields()) {
    const FieldInfo& info = InfoOf(*field);
    if (info.section() == RECORD || !HasField(*field, resolved.config)) continue;
    if (info.group() != group) {
      group = info.group();
      absl::StrAppend(&text, text.empty() ? "" : "\n", group, ":\n");
    }
    absl::StrAppendFormat(&text, "  %-22s %-24s %s%s\n", FlagName(*field).substr(2),
                          FieldText(*field, resolved.config),
                          resolved.OriginOf(field->name()).where,
                          idle.contains(field->name()) ? ", without effect here" : "");
  }
  return text;
}

std::string OriginText(const ResolvedConfig& resolved, const std::string& field) {
  const Origin origin = resolved.OriginOf(field);
  if (origin.source == Source::kFile) return absl::StrCat(origin.where, ": ", field);
  if (origin.source == Source::kDefault) return FlagName(ConfigFieldNamed(field));
  return origin.where;
}

std::string Culprit(const ResolvedConfig& resolved, const std::string& field) {
  return absl::StrCat(OriginText(resolved, field), "=",
                      FieldText(ConfigFieldNamed(field), resolved.config));
}

absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status) {
  const std::string message(status.message());
  if (FailureOf(status) != Failure::kUsage || message.starts_with("--")) return status;
  // The code that refused the value may have named the value already, plain or in quotes.
  const std::string culprit(value);
  std::string_view why = message;
  for (const std::string& named : {culprit + ": ", absl::StrCat("'", culprit, "': ")}) {
    if (why.starts_with(named)) why.remove_prefix(named.size());
  }
  return WithFailure(absl::Status(status.code(), absl::StrCat(std::string(flag), "=", culprit, ": ",
                                                              std::string(why))),
                     Failure::kUsage);
}

absl::Status NamingOrigin(const ResolvedConfig& resolved, absl::Status status) {
  if (FailureOf(status) != Failure::kUsage) return status;
  const std::string message(status.message());
  const size_t end = std::min(message.find_first_of("=:"), message.size());
  const std::string flag = message.substr(0, end);
  for (const ConfigField* field : ConfigFields()) {
    if (FlagName(*field) != flag) continue;
    return WithFailure(absl::Status(status.code(), absl::StrCat(OriginText(resolved, field->name()),
                                                                message.substr(end))),
                       Failure::kUsage);
  }
  return status;
}

}  // namespace grapevine
