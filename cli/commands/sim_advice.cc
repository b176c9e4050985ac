#include "cli/commands/sim_advice.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "experiment/advice/advice_report.h"
#include "experiment/advice/advice_run.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_cluster.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

// What the advice is to choose must not be given.
absl::Status CheckNothingIsChosen(const ResolvedConfig& resolved) {
  for (const char* name : {"topology", "algorithm"}) {
    const Origin origin = resolved.OriginOf(name);
    if (origin.source == Source::kDefault) continue;
    return UsageError(absl::StrCat(origin.where,
                                   ": --advise compares them all; drop it, or "
                                   "drop --advise to simulate this one"));
  }
  return absl::OkStatus();
}

// Replaces the experiment by one without learning, of the same size and gradient time.
absl::Status MakePhantom(Config* config, AdviceBasis* basis) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(*config));
  basis->replica_bytes = 4.0 * static_cast<double>(experiment->layout().size);
  const bool learns = experiment->problem().learns();
  if (experiment->problem().data() != nullptr) basis->split = config->split();
  if (learns && !config->has_compute()) {
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds time, MeasureGradient(*experiment));
    config->set_compute(FormatDuration(time));
    basis->compute_measured = true;
  }
  if (learns) {
    config->set_model(absl::StrCat("phantom:", 4 * experiment->layout().size, "B"));
    // Settings of learning.
    for (const char* name : {"init_from", "target_accuracy", "data", "split", "label_smoothing"}) {
      ClearField(ConfigFieldNamed(name), config);
    }
  }
  basis->compute = config->compute();
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintAdvice(const ResolvedConfig& resolved, bool json, bool dry_run,
                         const std::atomic<bool>& interrupted) {
  RETURN_IF_ERROR(CheckNothingIsChosen(resolved));
  Config config = resolved.config;
  config.set_schedule("constant");  // any other needs more rounds
  ASSIGN_OR_RETURN(const auto cluster, SimulatedCluster::Make(config));
  AdviceBasis basis{.nodes = config.nodes(),
                    .model = config.model(),
                    .network = cluster->network().description(),
                    .memory_bandwidth = config.memory_bandwidth(),
                    .straggler = config.straggler()};
  RETURN_IF_ERROR(MakePhantom(&config, &basis));
  if (dry_run) {
    for (const Candidate& candidate : AdviceCandidates(config.nodes())) {
      std::cout << "would try " << candidate.name() << "\n";
    }
    return absl::OkStatus();
  }
  const bool live = isatty(STDERR_FILENO) == 1;
  const auto show = [live](const std::string& done) {
    std::cerr << (live ? absl::StrCat("\r\033[K", done) : absl::StrCat(done, "\n")) << std::flush;
  };
  const absl::StatusOr<ClusterAdvice> advice = AdviseCluster(
      config, {.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
               .interrupted = &interrupted,
               .on_progress = json ? nullptr : std::function<void(const std::string&)>(show)});
  if (live && !json) std::cerr << "\r\033[K" << std::flush;
  if (!advice.ok()) return advice.status();
  std::cout << (json ? AdviceJson(*advice, basis) : AdviceText(*advice, basis)) << std::flush;
  return absl::OkStatus();
}

}  // namespace grapevine
