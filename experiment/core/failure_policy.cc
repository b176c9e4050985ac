#include "experiment/core/failure_policy.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"

namespace grapevine {
namespace {

// Returns the flag by which the run keeps something of all nodes; empty without such a flag.
std::string KeepsAllNodes(const Config& config) {
  if (config.has_checkpoint_every()) return "--checkpoint-every";
  if (config.has_resume()) return "--resume";
  return config.has_record() ? "--record" : "";
}

// Returns the setting that asks to go on where --on-failure does not say so; empty if none does.
std::string AsksToGoOn(const Config& config) {
  if (config.has_min_nodes()) return absl::StrCat("--min-nodes=", config.min_nodes());
  const bool restarts = config.max_restarts() > 0 && !config.has_checkpoint_every();
  if (restarts) return absl::StrCat("--max-restarts=", config.max_restarts());
  return config.join() ? "--join" : "";
}

// Returns the setting that asks for newcomers; empty if none does.
std::string WantsNewcomers(const Config& config, const FaultSchedule& faults) {
  if (WaitsForOthers(config)) return "--on-failure=wait";
  if (config.join()) return "--join";
  if (config.max_restarts() > 0) return "--max-restarts";
  for (const Fault& fault : faults) {
    const bool returns = fault.kind == FaultKind::kKill && fault.duration != Fault::kForever;
    if (returns) return absl::StrCat("--chaos=", FaultText(fault));
  }
  return "";
}

absl::Status CheckNewcomers(const Config& config, const FaultSchedule& faults) {
  const std::string flag = WantsNewcomers(config, faults);
  if (flag.empty() || TakesNewcomers(config.algorithm())) return absl::OkStatus();
  return UsageError(
      absl::StrCat(flag, ": nobody can come into a run of --algorithm=", config.algorithm(),
                   HasRounds(config.algorithm())
                       ? ", whose nodes all have the same model and optimizer's state"
                       : ", whose nodes share a number of gradients that is dealt out at the start",
                   "; gossip in rounds (dpsgd, noloco, sgp) takes others in"));
}

}  // namespace

bool WaitsForOthers(const Config& config) { return config.on_failure() == "wait"; }

std::optional<Rank> LeastNodes(const Config& config) {
  if (config.has_min_nodes()) return config.min_nodes();
  return WaitsForOthers(config) ? std::optional(config.nodes()) : std::nullopt;
}

bool GoesOnWithoutTheLost(const Config& config) {
  if (config.on_failure() != "auto") return config.on_failure() != "end";
  if (!KeepsAllNodes(config).empty()) return false;
  // Unless rounds average over all nodes, one node is as good as another.
  const std::string& algorithm = config.algorithm();
  const bool means_all = IsCentralized(algorithm) && HasRounds(algorithm);
  return (IsResilient(algorithm) && !means_all) || !AsksToGoOn(config).empty();
}

bool BeginsAgain(const Config& config) {
  return config.max_restarts() > 0 && config.has_checkpoint_every() &&
         !GoesOnWithoutTheLost(config);
}

absl::Status CheckFailurePolicy(const Config& config, const FaultSchedule& faults) {
  const std::string asked = config.on_failure() == "auto"
                                ? AsksToGoOn(config)
                                : absl::StrCat("--on-failure=", config.on_failure());
  if (BeginsAgain(config) && config.has_record()) {
    return UsageError(absl::StrCat("--max-restarts=", config.max_restarts(),
                                   ": a run that begins again cannot be recorded; drop --record"));
  }
  if (!GoesOnWithoutTheLost(config)) {
    if (config.on_failure() == "end" || asked.empty()) return absl::OkStatus();
    return UsageError(absl::StrCat(asked, ": a run with ", KeepsAllNodes(config),
                                   " ends when a node is lost; drop one of the two"));
  }
  if (IsResilient(config.algorithm())) return CheckNewcomers(config, faults);
  return UsageError(absl::StrCat(asked, ": the nodes of --algorithm=", config.algorithm(),
                                 " cannot go on when one of them is lost; those of ",
                                 absl::StrJoin(ResilientAlgorithms(), ", "), " can; drop it"));
}

}  // namespace grapevine
