#include "run/config/culprit.h"

#include "absl/strings/str_cat.h"
#include "run/config/config_field.h"

namespace grapevine {

std::string PlaceOf(const ResolvedConfig& resolved, const std::string& field) {
  const Origin origin = resolved.OriginOf(field);
  if (origin.source == Source::kFile) return absl::StrCat(origin.where, ": ", field);
  if (origin.source == Source::kDefault) return FlagName(ConfigFieldNamed(field));
  return origin.where;
}

std::string Culprit(const ResolvedConfig& resolved, const std::string& field) {
  return absl::StrCat(PlaceOf(resolved, field), "=",
                      FieldText(ConfigFieldNamed(field), resolved.config));
}

}  // namespace grapevine
