#include "run/config/config_resolve.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/config_validate.h"

namespace grapevine {
namespace {

absl::Status AddFile(const std::string& path, ResolvedConfig* resolved) {
  absl::StatusOr<ConfigFile> file = ReadConfigFile(path);
  if (!file.ok()) return file.status();
  resolved->config = std::move(file->config);
  for (const auto& [field, line] : file->line) {
    resolved->origins[field] = {Source::kFile, absl::StrCat(path, ":", line)};
  }
  return absl::OkStatus();
}

absl::Status Add(const ConfigField& field, const std::string& text, Origin origin,
                 ResolvedConfig* resolved) {
  if (absl::Status status = SetField(field, text, &resolved->config); !status.ok()) {
    return WithFailure(
        absl::InvalidArgumentError(absl::StrCat(origin.where, ": ", std::string(status.message()))),
        Failure::kUsage);
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
    absl::Status status =
        Add(*field, variable->second, {Source::kEnvironment, variable->first}, resolved);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AddFlags(const std::map<std::string, std::string>& flags, ResolvedConfig* resolved) {
  for (const auto& [name, text] : flags) {
    const ConfigField& field = ConfigFieldNamed(name);
    absl::Status status = Add(field, text, {Source::kCommandLine, FlagName(field)}, resolved);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// --epochs and --rounds exclude each other, but one on the command line
// overrides the other from a file.
absl::Status ChooseDuration(ResolvedConfig* resolved) {
  const Origin epochs = resolved->OriginOf("epochs");
  const Origin rounds = resolved->OriginOf("rounds");
  if (rounds.source == epochs.source && rounds.source != Source::kDefault) {
    return WithFailure(
        absl::InvalidArgumentError(absl::StrCat(epochs.where, " and ", rounds.where,
                                                " both say how long to train; keep one of them")),
        Failure::kUsage);
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
    if (absl::Status status = AddFile(*sources.file, &resolved); !status.ok()) return status;
  }
  if (absl::Status status = AddEnvironment(sources.environment, &resolved); !status.ok()) {
    return status;
  }
  if (absl::Status status = AddFlags(sources.flags, &resolved); !status.ok()) return status;
  // An earlier run's config.textproto names what made that run.
  ForgetRecord(&resolved);
  if (absl::Status status = ChooseDuration(&resolved); !status.ok()) return status;
  FillDefaults(&resolved.config);
  if (absl::Status status = ValidateConfig(resolved); !status.ok()) return status;
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
