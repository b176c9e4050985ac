#include "run/config/config_choices.h"

namespace grapevine {

const std::vector<ConfigChoices>& AllConfigChoices() {
  static const auto* const kChoices = new std::vector<ConfigChoices>{
      {"precision", {"fp32", "tf32", "bf16", "fp16"}},
      {"log_level", {"debug", "info", "warning", "error"}},
      {"log_format", {"text", "json"}},
      {"on_failure", {"auto", "end", "shrink", "wait"}},
      {"network_model", {"auto", "nic", "queue", "packets", "packets:control=reno", "flow"}}};
  return *kChoices;
}

std::vector<std::string> ConfigChoicesOf(const std::string& name) {
  for (const ConfigChoices& choices : AllConfigChoices()) {
    if (choices.field == name) return choices.values;
  }
  return {};
}

}  // namespace grapevine
