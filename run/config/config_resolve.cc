#include "run/config/config_resolve.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/registry.h"
#include "base/status_macros.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/config_validate.h"

namespace grapevine {
namespace {

absl::Status AddFile(const std::string& path, const std::optional<std::string>& text,
                     ResolvedConfig* resolved) {
  ASSIGN_OR_RETURN(ConfigFile file, text ? ParseConfigText(path, *text) : ReadConfigFile(path));
  resolved->config = std::move(file.config);
  for (const auto& [field, line] : file.line) {
    resolved->origins[field] = {Source::kFile, absl::StrCat(path, ":", line)};
  }
  return absl::OkStatus();
}

absl::Status Add(const ConfigField& field, const std::string& text, Origin origin,
                 ResolvedConfig* resolved) {
  if (absl::Status status = SetField(field, text, &resolved->config); !status.ok()) {
    return UsageError(absl::StrCat(origin.where, ": ", std::string(status.message())));
  }
  resolved->origins[field.name()] = std::move(origin);
  return absl::OkStatus();
}

absl::Status AddEnvironment(const std::map<std::string, std::string>& environment,
                            ResolvedConfig* resolved) {
  for (const ConfigField* field : ConfigFields()) {
    const auto variable = environment.find(VariableName(*field));
    // Scripts write GRAPEVINE_OUT= for "unset".
    if (variable == environment.end() || variable->second.empty()) continue;
    RETURN_IF_ERROR(
        Add(*field, variable->second, {Source::kEnvironment, variable->first}, resolved));
  }
  return absl::OkStatus();
}

// A program that has no command line may have a name wrong.
absl::Status UnknownSettingError(const std::string& name) {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) names.push_back(field->name());
  const std::string nearest = NearestName(name, names);
  return UsageError(
      absl::StrCat("there is no setting '", name, "'; ",
                   nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? "),
                   "settings are the fields of run/config/config.proto"));
}

absl::Status AddFlags(const std::map<std::string, std::string>& flags, ResolvedConfig* resolved) {
  for (const auto& [name, text] : flags) {
    const ConfigField* const field = Config::descriptor()->FindFieldByName(name);
    if (field == nullptr) return UnknownSettingError(name);
    RETURN_IF_ERROR(Add(*field, text, {Source::kCommandLine, FlagName(*field)}, resolved));
  }
  return absl::OkStatus();
}

// --epochs and --rounds exclude each other, but one on the command line
// overrides the other from a file.
absl::Status ChooseDuration(ResolvedConfig* resolved) {
  const Origin epochs = resolved->OriginOf("epochs");
  const Origin rounds = resolved->OriginOf("rounds");
  if (rounds.source == epochs.source && rounds.source != Source::kDefault) {
    return UsageError(absl::StrCat(epochs.where, " and ", rounds.where,
                                   " both say how long to train; keep one of them"));
  }
  const std::string loser = rounds.source > epochs.source ? "epochs" : "rounds";
  ClearField(ConfigFieldNamed(loser), &resolved->config);
  resolved->origins.erase(loser);
  return absl::OkStatus();
}

void FillDefaults(Config* config) {
  for (const ConfigField* field : ConfigFields()) {
    if (!field->has_default_value() || HasField(*field, *config)) continue;
    if (field->name() == "epochs" && config->has_rounds()) continue;
    (void)SetField(*field, FieldText(*field, *config), config);
  }
}

void ForgetRecord(ResolvedConfig* resolved) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != RECORD) continue;
    ClearField(*field, &resolved->config);
    resolved->origins.erase(field->name());
  }
}

}  // namespace

absl::StatusOr<ResolvedConfig> ResolveConfig(const ConfigSources& sources) {
  ResolvedConfig resolved;
  if (sources.file) {
    RETURN_IF_ERROR(AddFile(*sources.file, sources.text, &resolved));
  }
  RETURN_IF_ERROR(AddEnvironment(sources.environment, &resolved));
  RETURN_IF_ERROR(AddFlags(sources.flags, &resolved));
  // An earlier run's config.textproto names what made that run.
  ForgetRecord(&resolved);
  RETURN_IF_ERROR(ChooseDuration(&resolved));
  FillDefaults(&resolved.config);
  RETURN_IF_ERROR(ValidateConfig(resolved));
  return resolved;
}

std::map<std::string, std::string> ConfigEnvironment() {
  std::map<std::string, std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text(*variable);
    const size_t equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with("GRAPEVINE_")) continue;
    result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

}  // namespace grapevine
