#include "cli/terminal/real_run_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "cli/terminal/conclusion.h"
#include "run/records/run_directory.h"
#include "run/records/summary.h"

namespace grapevine {

std::string Opening(const Experiment& experiment) {
  const Config& config = experiment.config();
  const Round rounds = experiment.rounds();
  std::string text = absl::StrFormat("%d nodes, %s, %s weights, %s\n", config.nodes(),
                                     experiment.mixing().topology().name(),
                                     experiment.mixing().name(), experiment.algorithm_name());
  const std::string size = HumanSize(4.0 * static_cast<double>(experiment.layout().size));
  if (experiment.problem().data() == nullptr) {
    absl::StrAppendFormat(&text, "%s: replicas of %s%s, %d rounds\n", config.model(), size,
                          experiment.problem().learns() ? "" : " that learn nothing", rounds);
    return text;
  }
  absl::StrAppendFormat(&text, "%s on %s: %s of parameters and buffers\n", config.model(),
                        config.data(), size);
  const Rank workers = experiment.workers();
  absl::StrAppendFormat(&text, "batch %d x %d %s = %d, %d rounds (%.4g epochs)\n", config.batch(),
                        workers, workers == config.nodes() ? "nodes" : "workers",
                        experiment.global_batch(), rounds, experiment.Epoch(rounds));
  return text;
}

absl::StatusOr<std::string> Closing(const Config& config, const std::string& run) {
  ASSIGN_OR_RETURN(const Summary summary, ReadSummary(run));
  std::string text = Conclusion(summary) + "\n";
  // Of a run that learns nothing there is no curve.
  if (summary.train_loss || summary.test_loss) {
    absl::StrAppend(&text, "plot it: grapevine plot ", run, " -o convergence.png\n");
  }
  if (config.has_trace()) {
    absl::StrAppend(&text, "trace: ", config.trace(), " (open it in ui.perfetto.dev)\n");
  }
  if (config.has_profile()) {
    absl::StrAppend(&text, "profile: ", config.profile(),
                    " (use it: grapevine sim --compute=profile:", config.profile(), ")\n");
  }
  return text;
}

}  // namespace grapevine
