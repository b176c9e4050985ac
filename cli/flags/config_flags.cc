#include "cli/flags/config_flags.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "experiment/core/spec_help.h"
#include "node/launch/launch_variables.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_field.h"
#include "run/config/token_source.h"
#include "run/records/revision.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

constexpr const char* kOthers[] = {
    kTokenVariable,               // the secret of a run, if no file has it
    kLaunchedVariable,            // from the launcher to its children
    kPortDescriptorVariable,      // from the launcher to its children
    kProgressDescriptorVariable,  // from the launcher to its children
    kRoleVariable,                // from the launcher to its children
    kLauncherDescriptorVariable,  // from the launcher to its children
    "GRAPEVINE_CUDA",             // for the build: with GPUs or without
};

using Fields = std::vector<const ConfigField*>;

// What most people set: --help shows these, and --help=all the others as well.
constexpr std::string_view kCommon[] = {
    "nodes", "topology",  "algorithm",  "model", "data",        "epochs",    "batch",
    "lr",    "optimizer", "device",     "out",   "dashboard",   "resume",    "checkpoint_every",
    "hosts", "rank",      "world_size", "join",  "coordinator", "token_file"};
// What most people set besides, where a command simulates a network.
constexpr std::string_view kCommonInSimulation[] = {"network", "bandwidth", "latency", "compute",
                                                    "straggler"};

bool HasName(std::span<const std::string_view> names, const ConfigField& field) {
  return std::ranges::any_of(
      names, [&field](std::string_view name) { return &ConfigFieldNamed(name) == &field; });
}

bool IsRare(const ConfigField& field, const Fields& declared) {
  const bool simulates = std::ranges::any_of(
      declared, [](const ConfigField* other) { return other->name() == "network"; });
  return !HasName(kCommon, field) && !(simulates && HasName(kCommonInSimulation, field));
}

// Returns the help up to where it goes into details, and not within parentheses.
std::string Brief(const std::string& help) {
  for (size_t end = help.find("; "); end != std::string::npos; end = help.find("; ", end + 1)) {
    const std::string brief = help.substr(0, end);
    if (std::ranges::count(brief, '(') == std::ranges::count(brief, ')')) return brief;
  }
  return help;
}

std::vector<std::string> Settings() {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) names.push_back(VariableName(*field));
  return names;
}

// Returns "learning_rate" for GRAPEVINE_LEARNING_RATE.
std::string SettingOf(const std::string& variable) {
  return absl::AsciiStrToLower(absl::StripPrefix(variable, "GRAPEVINE_"));
}

// Returns the aliases that are not the name of another declared flag: `node` has a --world-size.
std::vector<std::string> Aliases(const ConfigField& field, const Fields& declared) {
  std::vector<std::string> aliases = FlagAliases(field);
  for (const ConfigField* other : declared) std::erase(aliases, FlagName(*other));
  return aliases;
}

Flag DeclareSwitch(Command command, const ConfigField& field, const Fields& declared) {
  const FieldInfo& info = InfoOf(field);
  const std::string flag = FlagName(field);
  return command.AddSwitch({.names = absl::StrCat(flag, ",!--no-", flag.substr(2)),
                            .help = info.help(),
                            .group = info.group(),
                            .rare = IsRare(field, declared),
                            .brief = Brief(info.help())});
}

Flag DeclareValue(Command command, const ConfigField& field, const Fields& declared) {
  const FieldInfo& info = InfoOf(field);
  const std::string letter = info.has_short_flag() ? absl::StrCat("-", info.short_flag(), ",") : "";
  return command
      .AddText({.names = letter + FlagName(field),
                .help = SpecHelp(field),
                .placeholder = info.placeholder(),
                .group = info.group(),
                .words = ValueWords(field),
                .aliases = Aliases(field, declared),
                .rare = IsRare(field, declared),
                .brief = Brief(info.help()),
                .choices = Registered(field.name())},
               field.is_repeated())
      .ShowDefault(FieldText(field, Config()));
}

std::vector<std::pair<const ConfigField*, Flag>> DeclareAll(Command command, const Fields& fields) {
  std::vector<std::pair<const ConfigField*, Flag>> flags;
  for (const ConfigField* field : fields) {
    const auto declare = IsSwitch(*field) ? DeclareSwitch : DeclareValue;
    flags.emplace_back(field, declare(command, *field, fields));
  }
  return flags;
}

// Join the values of a repeated flag: all of them belong to one run, whether or not lists make
// several runs.
std::string OneValue(const std::vector<std::string>& values) { return absl::StrJoin(values, ","); }
std::string OneElement(const std::vector<std::string>& values) {
  return absl::StrJoin(values, ListElement(","));
}

Flag DeclareFile(Command command) {
  return command.AddText(
      {.names = "--config",
       .help = "textproto of these settings, such as an earlier run's config.textproto; flags and "
               "GRAPEVINE_* variables override it",
       .placeholder = "FILE",
       .group = "Output",
       .rare = true},
      /*repeated=*/false);
}

// Returns the value of --resume, and the flag or variable that gave it; empty if none did.
std::pair<std::string, std::string> Resumed(const ConfigSources& sources) {
  const ConfigField& resume = ConfigFieldNamed("resume");
  const auto flag = sources.flags.find(resume.name());
  if (flag != sources.flags.end()) return {flag->second, FlagName(resume)};
  const auto variable = sources.environment.find(VariableName(resume));
  if (variable == sources.environment.end()) return {};
  return {variable->second, variable->first};
}

// Makes a run that goes on keep the settings that it had. On another host than rank 0's, the run
// directory may have parts of checkpoints and no settings.
absl::Status AddFileOfResumed(ConfigSources* sources) {
  const auto [path, origin] = Resumed(*sources);
  if (path.empty() || sources->file) return absl::OkStatus();
  const std::string run = RunOf(path);
  if (IsRunDirectory(run)) {
    sources->file = ConfigPath(run);
    sources->resumes = true;
    return absl::OkStatus();
  }
  if (HasCheckpoints(run)) return absl::OkStatus();
  return UsageError(absl::StrCat(origin, "=", path, ": is no run directory (it has no ",
                                 "config.textproto); give the --out of a run that had "
                                 "--checkpoint-every, or one of its checkpoints, "
                                 "DIR/checkpoints/round-R"));
}

}  // namespace

absl::Status CheckVariables(const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> settings = Settings();
  for (const auto& [name, value] : environment) {
    if (std::ranges::find(settings, name) != settings.end()) continue;
    if (std::ranges::find(kOthers, name) != std::end(kOthers)) continue;
    const ConfigField* const meant = ConfigFieldMeantBy(SettingOf(name));
    return UsageError(absl::StrCat(
        "unknown variable ", name, "; ",
        meant == nullptr ? "unset it; every flag has one (--peer-timeout: GRAPEVINE_PEER_TIMEOUT)"
                         : absl::StrCat("did you mean ", VariableName(*meant), "?")));
  }
  return absl::OkStatus();
}

std::vector<const ConfigField*> FieldsInGroups(std::initializer_list<std::string_view> groups) {
  std::vector<const ConfigField*> fields;
  for (const ConfigField* field : ConfigFields()) {
    const bool wanted =
        std::find(groups.begin(), groups.end(), InfoOf(*field).group()) != groups.end();
    if (wanted && InfoOf(*field).section() != RECORD) fields.push_back(field);
  }
  return fields;
}

ConfigFlags::ConfigFlags(Command command, const std::vector<const ConfigField*>& fields,
                         const Flag* condition)
    : flags_(DeclareAll(command, fields)), file_(DeclareFile(command)) {
  if (condition == nullptr) return;
  file_.Needs(*condition);
  for (auto& [field, flag] : flags_) flag.Needs(*condition);
}

ConfigSources ConfigFlags::Sources(std::string (*join)(const std::vector<std::string>&)) const {
  ConfigSources sources{.environment = ConfigEnvironment()};
  for (const auto& [field, flag] : flags_) {
    if (flag.given()) sources.flags[field->name()] = join(flag.values());
  }
  if (file_.given()) sources.file = file_.values().front();
  return sources;
}

void ConfigFlags::Complete(Config* config) const {
  std::set<const ConfigField*> declared;
  for (const auto& [field, flag] : flags_) declared.insert(field);
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() == SIMULATION && !declared.contains(field)) {
      ClearField(*field, config);
    }
  }
  config->set_version(Version());
  config->set_revision(Revision());
}

absl::StatusOr<ResolvedConfig> ConfigFlags::Resolve() const {
  ConfigSources sources = SingleValues(Sources(OneValue));
  RETURN_IF_ERROR(AddFileOfResumed(&sources));
  RETURN_IF_ERROR(CheckVariables(sources.environment));
  absl::StatusOr<ResolvedConfig> resolved = ResolveConfig(sources);
  if (resolved.ok()) Complete(&resolved->config);
  return resolved;
}

absl::StatusOr<std::vector<SweepCell>> ConfigFlags::ResolveSweep(
    const std::optional<std::string>& rounds) const {
  ConfigSources sources = Sources(OneElement);
  RETURN_IF_ERROR(AddFileOfResumed(&sources));
  RETURN_IF_ERROR(CheckVariables(sources.environment));
  if (rounds && !sources.flags.contains("epochs")) sources.flags.try_emplace("rounds", *rounds);
  std::vector<const ConfigField*> fields;
  for (const auto& [field, flag] : flags_) fields.push_back(field);
  ASSIGN_OR_RETURN(std::vector<SweepCell> cells, grapevine::ResolveSweep(sources, fields));
  for (SweepCell& cell : cells) Complete(&cell.resolved.config);
  return cells;
}

}  // namespace grapevine
