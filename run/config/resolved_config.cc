#include "run/config/resolved_config.h"

#include "absl/strings/str_format.h"
#include "run/config/config_field.h"

namespace grapevine {

std::string PrintResolved(const ResolvedConfig& resolved) {
  std::string text;
  std::string group;
  for (const ConfigField* field : ConfigFields()) {
    const FieldInfo& info = InfoOf(*field);
    if (info.section() == RECORD || !HasField(*field, resolved.config)) continue;
    if (info.group() != group) {
      group = info.group();
      absl::StrAppend(&text, text.empty() ? "" : "\n", group, ":\n");
    }
    absl::StrAppendFormat(&text, "  %-22s %-24s %s\n", FlagName(*field).substr(2),
                          FieldText(*field, resolved.config),
                          resolved.OriginOf(field->name()).where);
  }
  return text;
}

}  // namespace grapevine
