#include "run/config/config_resolve.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"
#include "run/config/config_choices.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/config_values.h"
#include "run/config/resolved_config.h"

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

// Reports a name that a program without a command line has wrong.
absl::Status UnknownSettingError(const std::string& name) {
  const ConfigField* const meant = ConfigFieldMeantBy(name);
  return UsageError(
      absl::StrCat("there is no setting '", name, "'; ",
                   meant == nullptr ? "" : absl::StrCat("did you mean ", meant->name(), "? "),
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

// --epochs and --rounds exclude each other, but one on the command line overrides the other from a
// file.
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

// The number of nodes in the file of a run: how many the run had, for how many it was planned, and
// where the file says that.
struct NodesInFile {
  int nodes;
  int planned;
  Origin origin;  // origin of `planned`
};

std::optional<NodesInFile> NodesIn(const ResolvedConfig& file) {
  const Config& config = file.config;
  if (!config.has_nodes()) return std::nullopt;
  if (!config.has_planned_nodes()) {
    return NodesInFile{config.nodes(), config.nodes(), file.OriginOf("nodes")};
  }
  return NodesInFile{config.nodes(), config.planned_nodes(), file.OriginOf("planned_nodes")};
}

void Forget(const char* field, ResolvedConfig* resolved) {
  ClearField(ConfigFieldNamed(field), &resolved->config);
  resolved->origins.erase(field);
}

// With another number of nodes, a run that goes on keeps its plan, but not the faults of its
// earlier nodes. The file of another run says nothing of the plan of a new one.
void ChooseForOtherNodes(const std::optional<NodesInFile>& before, ResolvedConfig* resolved) {
  Config& config = resolved->config;
  if (before && before->nodes != config.nodes() &&
      resolved->OriginOf("chaos").source <= Source::kFile) {
    Forget("chaos", resolved);
  }
  if (resolved->OriginOf("planned_nodes").source > Source::kFile) return;
  if (!config.has_resume()) {
    Forget("planned_nodes", resolved);
  } else if (before && before->planned != config.nodes()) {
    config.set_planned_nodes(before->planned);
    resolved->origins["planned_nodes"] = before->origin;
  }
}

void ForgetRecord(ResolvedConfig* resolved) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() == RECORD) Forget(field->name().c_str(), resolved);
  }
}

}  // namespace

absl::StatusOr<ResolvedConfig> ResolveConfig(const ConfigSources& sources) {
  ResolvedConfig resolved;
  if (sources.file) {
    RETURN_IF_ERROR(AddFile(*sources.file, sources.text, &resolved));
  }
  const auto before = sources.resumes ? NodesIn(resolved) : std::nullopt;
  RETURN_IF_ERROR(AddEnvironment(sources.environment, &resolved));
  RETURN_IF_ERROR(AddFlags(sources.flags, &resolved));
  // The config.textproto of an earlier run names what made that run.
  ForgetRecord(&resolved);
  RETURN_IF_ERROR(ChooseDuration(&resolved));
  FillDefaults(&resolved.config);
  ChooseForOtherNodes(before, &resolved);
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

namespace {

// A condition on a number, in words that follow "must".
struct Range {
  std::string_view must;
  bool (*holds)(double);
};

constexpr Range kPositive{"be positive", [](double v) { return v > 0 && std::isfinite(v); }};
constexpr Range kNonNegative{"not be negative",
                             [](double v) { return v >= 0 && std::isfinite(v); }};
constexpr Range kBelowOne{"be at least 0 and below 1", [](double v) { return v >= 0 && v < 1; }};
// Each node makes buffers for this number of rounds; a handful of rounds hides any latency.
constexpr Range kWindow{"be at least 0 and at most 1000",
                        [](double v) { return v >= 0 && v <= 1000; }};
constexpr Range kPort{"be a port between 1 and 65535",
                      [](double v) { return v >= 1 && v <= 65535; }};

struct RangeRule {
  const char* field;
  Range range;
};

constexpr RangeRule kRanges[] = {
    {"nodes", kPositive},
    {"epochs", kPositive},
    {"rounds", kPositive},
    {"batch", kPositive},
    {"accumulate", kPositive},
    {"lr", kPositive},
    {"momentum", kBelowOne},
    {"clip_norm", kPositive},
    {"max_norm", kPositive},
    {"weight_decay", kNonNegative},
    {"label_smoothing", kBelowOne},
    {"loss", kBelowOne},
    {"target_accuracy", kPositive},
    {"eval_every", kNonNegative},
    {"log_every", kNonNegative},
    {"eval_samples", kNonNegative},
    {"window", kWindow},
    {"rank", kNonNegative},
    {"world_size", kPositive},
    {"master_port", kPort},
    {"min_nodes", kPositive},
    {"planned_nodes", kPositive},
    {"max_restarts", kNonNegative},
};

absl::Status CheckRanges(const ResolvedConfig& resolved) {
  for (const auto& [name, range] : kRanges) {
    const ConfigField& field = ConfigFieldNamed(name);
    if (!HasField(field, resolved.config)) continue;
    double value = 0;
    if (!absl::SimpleAtod(FieldText(field, resolved.config), &value) || !range.holds(value)) {
      return UsageError(absl::StrCat(Culprit(resolved, name), ": must ", std::string(range.must)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckChoices(const ResolvedConfig& resolved) {
  for (const ConfigChoices& choices : AllConfigChoices()) {
    const std::string value = FieldText(ConfigFieldNamed(choices.field), resolved.config);
    if (std::ranges::find(choices.values, value) == choices.values.end()) {
      return UsageError(absl::StrCat(Culprit(resolved, choices.field), ": must be one of ",
                                     absl::StrJoin(choices.values, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDevice(const ResolvedConfig& resolved) {
  const absl::StatusOr<DeviceSpec> device = ParseDevice(resolved.config.device());
  if (!device.ok()) {
    return UsageError(
        absl::StrCat(Culprit(resolved, "device"), ": ", std::string(device.status().message())));
  }
  if (device->cuda || resolved.config.precision() == "fp32") return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "precision"), ": needs --device=cuda"));
}

// With shorter time-outs, heartbeats (eight per --peer-timeout) are late on any machine. With
// longer ones, sums of times overflow.
constexpr std::chrono::nanoseconds kShortestTimeout = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kLongestTimeout = std::chrono::hours(24 * 365);

absl::Status CheckTimeouts(const ResolvedConfig& resolved) {
  for (const char* name :
       {"peer_timeout", "min_peer_timeout", "rendezvous_timeout", "step_timeout"}) {
    const auto time = ResolvedDuration(FieldText(ConfigFieldNamed(name), resolved.config));
    if (time < kShortestTimeout || time > kLongestTimeout) {
      return UsageError(absl::StrCat(Culprit(resolved, name), ": must be between ",
                                     FormatDuration(kShortestTimeout), " and ",
                                     FormatDuration(kLongestTimeout)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOrderOfTimeouts(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (ResolvedDuration(config.step_timeout()) >= ResolvedDuration(config.peer_timeout())) {
    return absl::OkStatus();
  }
  return UsageError(absl::StrCat(Culprit(resolved, "step_timeout"),
                                 ": is below --peer-timeout=", config.peer_timeout(),
                                 ", so that it would fire before a lost peer is named; raise it"));
}

absl::Status CheckCluster(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (config.has_hostfile() && config.has_hosts()) {
    return UsageError(absl::StrCat(Culprit(resolved, "hostfile"), " and ",
                                   Culprit(resolved, "hosts"),
                                   " both list the nodes; keep one of them"));
  }
  if (config.has_rank() && config.has_world_size() && config.rank() >= config.world_size()) {
    return UsageError(absl::StrCat(Culprit(resolved, "rank"), ": ranks count from 0 to ",
                                   config.world_size() - 1, " (world size ", config.world_size(),
                                   ")"));
  }
  if (config.has_world_size() && config.world_size() != config.nodes() &&
      resolved.OriginOf("nodes").source != Source::kDefault) {
    return UsageError(absl::StrCat(Culprit(resolved, "world_size"), " and ",
                                   Culprit(resolved, "nodes"), " differ; give one of them"));
  }
  return absl::OkStatus();
}

// Whether `name` is a DNS name that may follow "rank-R." in a certificate.
bool IsDnsName(const std::string& name) {
  constexpr size_t kLongest = 200;
  const bool letters = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  const auto outer = [](char c) { return c != '-' && c != '.'; };
  return letters && !name.empty() && name.size() <= kLongest && outer(name.front()) &&
         outer(name.back()) && !absl::StrContains(name, "..");
}

absl::Status CheckSecurity(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  const int given = config.has_tls_ca() + config.has_tls_cert() + config.has_tls_key();
  if (given != 0 && given != 3) {
    return UsageError(
        "--tls-ca, --tls-cert and --tls-key belong together (mutual TLS); give all three");
  }
  const int for_etcd = config.has_etcd_ca() + config.has_etcd_cert() + config.has_etcd_key();
  if (for_etcd != 0 && for_etcd != 3) {
    return UsageError(
        "--etcd-ca, --etcd-cert and --etcd-key belong together (mutual TLS); give all three");
  }
  if (for_etcd == 3 && !absl::StartsWith(config.coordinator(), "etcd:")) {
    return UsageError(absl::StrCat(Culprit(resolved, "etcd_ca"),
                                   ": nobody is looked for in etcd; add "
                                   "--coordinator=etcd:HOST:PORT/RUN-KEY, or drop it"));
  }
  if (config.has_tls_identity() && given == 0) {
    return UsageError(absl::StrCat(Culprit(resolved, "tls_identity"),
                                   ": there are no certificates to name ranks without --tls-ca, "
                                   "--tls-cert and --tls-key"));
  }
  if (config.has_tls_identity() && !IsDnsName(config.tls_identity())) {
    return UsageError(absl::StrCat(Culprit(resolved, "tls_identity"),
                                   ": is no DNS name of lower-case letters, digits, hyphens and "
                                   "dots, of at most 200 characters"));
  }
  if (given == 3 && config.insecure()) {
    return UsageError(
        absl::StrCat(Culprit(resolved, "insecure"), ": contradicts --tls-ca; drop one of them"));
  }
  return absl::OkStatus();
}

absl::Status CheckSurvivors(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (config.min_nodes() > config.nodes()) {
    return UsageError(absl::StrCat(Culprit(resolved, "min_nodes"), ": the run has ", config.nodes(),
                                   " nodes (--nodes); no more can be left"));
  }
  if (config.on_failure() != "end") return absl::OkStatus();
  const bool restarts = config.max_restarts() != 0 && !config.has_checkpoint_every();
  const std::pair<const char*, bool> asked[] = {
      {"min_nodes", config.has_min_nodes()}, {"max_restarts", restarts}, {"join", config.join()}};
  for (const auto& [field, given] : asked) {
    if (!given) continue;
    return UsageError(absl::StrCat(Culprit(resolved, field),
                                   ": with --on-failure=", config.on_failure(),
                                   " no run goes on with fewer nodes, nor "
                                   "takes others in; add --on-failure=shrink"));
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const ResolvedConfig& resolved) {
  if (!resolved.config.has_planned_nodes() || resolved.config.has_resume()) return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "planned_nodes"),
                                 ": is for a run that goes on with another number of nodes; add "
                                 "--resume=DIR, or drop it"));
}

absl::Status CheckOutput(const ResolvedConfig& resolved) {
  if (!resolved.config.overwrite() || resolved.config.has_out() || resolved.config.has_resume())
    return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "overwrite"),
                                 ": needs --out=DIR, the run directory to replace"));
}

absl::Status CheckStragglers(const ResolvedConfig& resolved) {
  return ConfiguredStragglers(resolved.config, resolved.config.nodes()).status();
}

absl::Status CheckRecord(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (!config.has_record()) return absl::OkStatus();
  if (absl::StartsWith(config.batch_schedule(), "plateau")) {
    return UsageError(absl::StrCat(Culprit(resolved, "record"),
                                   ": a replay evaluates nothing, so it knows no plateaus; give "
                                   "--batch-schedule=step the positions at which an earlier run's "
                                   "batch grew (summary.json), or drop --record"));
  }
  if (config.device() == "cpu") return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "record"),
                                 ": a replay computes on the CPU, "
                                 "whose bits a GPU's are not; drop --device=",
                                 config.device()));
}

// Whether the configuration tells nodes to go on without lost nodes.
bool MayShrink(const Config& config) {
  return config.on_failure() == "shrink" || config.on_failure() == "wait";
}

absl::Status CheckGoingOn(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (!MayShrink(config) || !config.has_record()) return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "record"),
                                 ": a replay knows all nodes from the beginning to the end; drop "
                                 "it, or take --on-failure=end"));
}

bool MakesUpTimes(const Config& config) {
  return config.has_compute() || config.slow_size() > 0 || config.straggler() != "none";
}

}  // namespace

absl::Status ValidateForRealNodes(const ResolvedConfig& resolved) {
  RETURN_IF_ERROR(CheckOrderOfTimeouts(resolved));
  const Config& config = resolved.config;
  if (config.has_resume() && config.has_record()) {
    return UsageError(absl::StrCat(Culprit(resolved, "record"),
                                   ": a replay begins where the run begins, and this one goes on "
                                   "(--resume); drop it"));
  }
  RETURN_IF_ERROR(CheckGoingOn(resolved));
  if (config.has_profile() && MakesUpTimes(config)) {
    return UsageError(absl::StrCat(Culprit(resolved, "profile"),
                                   ": --compute, --slow and --straggler change how long gradients "
                                   "take; drop them while measuring"));
  }
  if (config.has_profile() && (config.accumulate() > 1 || config.batch_schedule() != "none")) {
    return UsageError(absl::StrCat(Culprit(resolved, "profile"),
                                   ": records the times of single batches, and --accumulate and "
                                   "--batch-schedule join several; drop them while measuring"));
  }
  return CheckRecord(resolved);
}

absl::Status ValidateForSimulation(const ResolvedConfig& resolved) {
  RETURN_IF_ERROR(CheckGoingOn(resolved));
  if (resolved.config.has_record()) {
    return UsageError(absl::StrCat(Culprit(resolved, "record"),
                                   ": a simulation repeats itself, so there is nothing to record; "
                                   "drop it, or record real nodes with `grapevine train`"));
  }
  if (resolved.config.device() == "cpu") return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(resolved, "device"),
                                 ": the simulator learns on the CPU; for a GPU's times give it "
                                 "--compute=profile:FILE, measured by train --profile"));
}

absl::Status ValidateConfig(const ResolvedConfig& resolved) {
  for (auto check : {CheckRanges, CheckChoices, CheckDevice, CheckTimeouts, CheckCluster,
                     CheckSecurity, CheckSurvivors, CheckPlan, CheckOutput, CheckStragglers}) {
    RETURN_IF_ERROR(check(resolved));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
