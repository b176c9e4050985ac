#include "experiment/core/failure_policy.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"

namespace grapevine {
namespace {

bool KeepsAllNodes(const Config& config) {
  return config.has_checkpoint_every() || config.has_resume() || config.has_record();
}

bool AsksToGoOn(const Config& config) {
  return config.min_nodes() != 1 || config.max_restarts() > 0 || config.join();
}

// What asks for newcomers, if anything does.
std::string WantsNewcomers(const Config& config, const FaultSchedule& faults) {
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
  if (flag.empty()) return absl::OkStatus();
  if (!TakesNewcomers(config.algorithm())) {
    return UsageError(absl::StrCat(
        flag, ": nobody can come into a run of --algorithm=", config.algorithm(),
        ", whose nodes all have the same replicas and optimizer's states; gossip (dpsgd, noloco, "
        "sgp) takes others in"));
  }
  if (config.has_checkpoint_every() || config.has_resume()) {
    return UsageError(absl::StrCat(flag,
                                   ": a run that keeps checkpoints, or goes on from one, "
                                   "takes nobody in"));
  }
  return absl::OkStatus();
}

}  // namespace

void SettleFailurePolicy(Config* config) {
  if (config->on_failure() != "auto") return;
  const bool fits = TakesNewcomers(config->algorithm()) && !KeepsAllNodes(*config);
  config->set_on_failure(fits || AsksToGoOn(*config) ? "shrink" : "end");
}

absl::Status CheckFailurePolicy(const Config& config, const FaultSchedule& faults) {
  if (config.on_failure() != "shrink") return absl::OkStatus();
  if (IsResilient(config.algorithm())) return CheckNewcomers(config, faults);
  return UsageError(
      absl::StrCat("--on-failure=shrink: the nodes of --algorithm=", config.algorithm(),
                   " cannot go on when one of them is lost; those of ",
                   absl::StrJoin(ResilientAlgorithms(), ", "), " can, or take --on-failure=end"));
}

}  // namespace grapevine
