#include "cli/config_flags.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "run/revision.h"

namespace grapevine {

namespace {

CLI::Option* DeclareSwitch(CLI::App& command, const ConfigField& field) {
  const std::string flag = FlagName(field);
  return command.add_flag(absl::StrCat(flag, ",!--no-", flag.substr(2)))
      ->description(InfoOf(field).help());
}

CLI::Option* DeclareValue(CLI::App& command, const ConfigField& field) {
  const FieldInfo& info = InfoOf(field);
  const std::string letter = info.has_short_flag() ? absl::StrCat("-", info.short_flag(), ",") : "";
  CLI::Option* option =
      command.add_option(letter + FlagName(field), CLI::callback_t(), info.help());
  option->type_name(info.placeholder())->default_str(FieldText(field, Config()));
  return field.is_repeated() ? option->take_all() : option->take_last();
}

CLI::Option* Declare(CLI::App& command, const ConfigField& field) {
  CLI::Option* option =
      IsSwitch(field) ? DeclareSwitch(command, field) : DeclareValue(command, field);
  return option->group(InfoOf(field).group());
}

}  // namespace

std::vector<const ConfigField*> FieldsInGroups(std::initializer_list<std::string_view> groups) {
  std::vector<const ConfigField*> fields;
  for (const ConfigField* field : ConfigFields()) {
    const bool wanted =
        std::find(groups.begin(), groups.end(), InfoOf(*field).group()) != groups.end();
    if (wanted && InfoOf(*field).section() != RECORD) fields.push_back(field);
  }
  return fields;
}

ConfigFlags::ConfigFlags(CLI::App& command, const std::vector<const ConfigField*>& fields) {
  for (const ConfigField* field : fields) {
    options_.emplace_back(field, Declare(command, *field));
  }
  file_ = command
              .add_option("--config", CLI::callback_t(),
                          "textproto of these settings, such as an earlier run's "
                          "config.textproto; flags and GRAPEVINE_* variables override it")
              ->type_name("FILE")
              ->group("Output")
              ->take_last();
}

ConfigSources ConfigFlags::Sources() const {
  ConfigSources sources{.environment = ConfigEnvironment()};
  for (const auto& [field, option] : options_) {
    if (option->empty()) continue;
    sources.flags[field->name()] = absl::StrJoin(option->reduced_results(), ",");
  }
  if (!file_->empty()) sources.file = file_->as<std::string>();
  return sources;
}

void ConfigFlags::Complete(Config* config) const {
  std::set<const ConfigField*> declared;
  for (const auto& [field, option] : options_) declared.insert(field);
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() == SIMULATION && !declared.contains(field)) {
      ClearField(*field, config);
    }
  }
  config->set_version(Version());
  config->set_revision(Revision());
}

absl::StatusOr<ResolvedConfig> ConfigFlags::Resolve() const {
  absl::StatusOr<ResolvedConfig> resolved = ResolveConfig(Sources());
  if (resolved.ok()) Complete(&resolved->config);
  return resolved;
}

absl::StatusOr<std::vector<SweepCell>> ConfigFlags::ResolveSweep(
    const std::optional<std::string>& rounds) const {
  ConfigSources sources = Sources();
  if (rounds && !sources.flags.contains("epochs")) sources.flags.try_emplace("rounds", *rounds);
  absl::StatusOr<std::vector<SweepCell>> cells = grapevine::ResolveSweep(sources);
  if (!cells.ok()) return cells.status();
  for (SweepCell& cell : *cells) Complete(&cell.resolved.config);
  return cells;
}

}  // namespace grapevine
