#include "experiment/core/run_checkpoints.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "experiment/core/experiment_identity.h"
#include "run/records/revision.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

// Whether there are checkpoints of such an experiment; `flag` is the one that asks for them.
absl::Status CheckHasState(const Experiment& experiment, const std::string& flag) {
  if (!experiment.has_rounds()) {
    return UsageError(absl::StrCat(
        flag, ": the nodes of --algorithm=", experiment.algorithm_name(),
        " go through no rounds together, at which all could be saved; drop it, or take dpsgd"));
  }
  if (!experiment.problem().learns()) {
    return UsageError(absl::StrCat(flag, ": --model=", experiment.config().model(),
                                   " has no weights to save; drop it, or take another --model"));
  }
  return absl::OkStatus();
}

absl::Status CheckSame(const std::string& name, const std::string& then, const std::string& now) {
  if (then == now) return absl::OkStatus();
  return InputError(absl::StrCat(name, " was ", then, " in the run of --resume, and is ", now,
                                 " now; restore the setting or file (--config of that run's "
                                 "config.textproto has them all)"));
}

absl::Status CheckSameExperiment(const CheckpointManifest& manifest, const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(experiment));
  std::map<std::string, std::string> then;
  for (const CheckpointSetting& setting : manifest.settings()) {
    then[setting.name()] = setting.value();
  }
  for (const IdentityItem& item : identity) {
    const auto found = then.extract(item.name);
    RETURN_IF_ERROR(CheckSame(item.name, found.empty() ? "not there" : found.mapped(), item.value));
  }
  if (then.empty()) return absl::OkStatus();
  return CheckSame(then.begin()->first, then.begin()->second, "not there");
}

}  // namespace

absl::StatusOr<std::optional<Round>> CheckpointInterval(const Experiment& experiment) {
  const std::string& text = experiment.config().checkpoint_every();
  if (text.empty()) return std::nullopt;
  const std::string flag = absl::StrCat("--checkpoint-every=", text);
  Round rounds = 0;
  if (!absl::SimpleAtoi(text, &rounds) || rounds < 1) {
    return UsageError(absl::StrCat(flag, ": must be a number of rounds from 1 on"));
  }
  RETURN_IF_ERROR(CheckHasState(experiment, flag));
  return rounds;
}

absl::StatusOr<CheckpointManifest> ManifestOf(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(experiment));
  CheckpointManifest manifest;
  manifest.set_version(kManifestVersion);
  manifest.set_program(absl::StrCat("grapevine ", Version(), " (", Revision(), ")"));
  for (const IdentityItem& item : identity) {
    CheckpointSetting& setting = *manifest.add_settings();
    setting.set_name(item.name);
    setting.set_value(item.value);
  }
  return manifest;
}

absl::StatusOr<std::optional<Checkpoint>> CheckpointToResume(const Experiment& experiment) {
  const Config& config = experiment.config();
  if (!config.has_resume()) return std::nullopt;
  RETURN_IF_ERROR(CheckHasState(experiment, absl::StrCat("--resume=", config.resume())));
  ASSIGN_OR_RETURN(Checkpoint checkpoint, FindCheckpoint(config.resume()));
  RETURN_IF_ERROR(CheckSameExperiment(checkpoint.manifest, experiment));
  if (checkpoint.manifest.nodes_size() != config.nodes()) {
    return InputError(checkpoint.path,
                      absl::StrCat("lists the parts of ", checkpoint.manifest.nodes_size(),
                                   " nodes, of ", config.nodes()));
  }
  return checkpoint;
}

absl::StatusOr<std::string> RunDirectoryFor(const Config& config, absl::Time now) {
  if (!config.has_resume()) return CreateRunDirectory(config, now);
  std::string run = RunOf(config.resume());
  if (!config.has_out() || config.out() == run) return run;
  return UsageError(absl::StrCat("--out=", config.out(), ": a run goes on in its own directory, ",
                                 run, "; drop --out"));
}

}  // namespace grapevine
