#include "cli/flags/variables.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/nearest_name.h"
#include "node/launch/launcher.h"
#include "run/config/config_field.h"
#include "run/config/token_source.h"

namespace grapevine {
namespace {

constexpr const char* kOthers[] = {
    kTokenVariable,               // the secret of a run, where no file has it
    kLaunchedVariable,            // of the launcher, to its children
    kPortDescriptorVariable,      // likewise
    kProgressDescriptorVariable,  // likewise
    "GRAPEVINE_DATA",             // of the tests: where real data are
    "GRAPEVINE_CUDA",             // of the build: with GPUs or without
};

std::vector<std::string> Settings() {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) names.push_back(VariableName(*field));
  return names;
}

}  // namespace

absl::Status CheckVariables(const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> settings = Settings();
  for (const auto& [name, value] : environment) {
    if (std::ranges::find(settings, name) != settings.end()) continue;
    if (std::ranges::find(kOthers, name) != std::end(kOthers)) continue;
    const std::string nearest = NearestName(name, settings);
    return UsageError(absl::StrCat(
        "unknown variable ", name, "; ",
        nearest.empty() ? "unset it; every flag has one (--peer-timeout: GRAPEVINE_PEER_TIMEOUT)"
                        : absl::StrCat("did you mean ", nearest, "?")));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
