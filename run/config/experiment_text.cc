#include "run/config/experiment_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "run/config/config_field.h"

namespace grapevine {

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

}  // namespace grapevine
