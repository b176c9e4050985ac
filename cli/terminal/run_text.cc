#include "cli/terminal/run_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/other_nodes.h"
#include "experiment/core/run_plan.h"
#include "experiment/core/setting_checks.h"
#include "run/records/membership_text.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
#include "run/records/statistics.h"

namespace grapevine {
namespace {

std::string TargetText(const TargetAccuracy& target) {
  std::string text = absl::StrFormat("target accuracy of %.4g %%", 100 * target.accuracy);
  if (!target.met) return absl::StrCat(text, " not met\n");
  absl::StrAppendFormat(
      &text, " met in round %d (%.4g epochs) after %s: %.2f %%, the model that is kept\n",
      target.round.value_or(0), target.epoch.value_or(0), HumanDuration(target.time_s.value_or(0)),
      100 * target.test_accuracy.value_or(0));
  return text;
}

// Returns the traffic of the server whose link carried the most in one direction.
std::string BusiestLinkText(const Summary& summary, const ServerLinks& links) {
  size_t busiest = 0;
  int64_t most = -1;
  for (size_t server = 0; server < std::min(links.bytes_sent.size(), links.bytes_received.size());
       ++server) {
    const int64_t bytes = std::max(links.bytes_sent[server], links.bytes_received[server]);
    if (bytes > most) busiest = server;
    most = std::max(most, bytes);
  }
  if (most < 0) return "";
  const double seconds = summary.wall_time_s.value_or(summary.simulated_time_s.value_or(0));
  const auto size = [](int64_t bytes) { return HumanSize(static_cast<double>(bytes)); };
  std::string text = absl::StrCat("\nbusiest server's link: rank ",
                                  summary.workers.value_or(0) + static_cast<int64_t>(busiest), ", ",
                                  size(links.bytes_received[busiest]), " received, ",
                                  size(links.bytes_sent[busiest]), " sent");
  if (seconds > 0) {
    absl::StrAppend(&text, " (", HumanSize(static_cast<double>(most) / seconds), "/s one way)");
  }
  return text;
}

}  // namespace

std::string Conclusion(const Summary& summary) {
  std::string text = summary.target ? TargetText(*summary.target) : "";
  const bool stopped = summary.target && summary.target->met;
  absl::StrAppendFormat(&text, "%s after %d rounds (%.4g epochs)",
                        stopped ? "stopped" : summary.stopped, summary.rounds, summary.epochs);
  if (summary.wall_time_s) absl::StrAppend(&text, ", ", HumanDuration(*summary.wall_time_s));
  if (summary.simulated_time_s) {
    absl::StrAppend(&text, ", ", HumanDuration(*summary.simulated_time_s), " simulated");
  }
  if (summary.bytes_sent_total) {
    absl::StrAppend(&text, ", ", HumanSize(static_cast<double>(*summary.bytes_sent_total)),
                    " sent");
  }
  if (const std::string members = MembershipText(summary); !members.empty()) {
    absl::StrAppend(&text, "\n", members);
  }
  if (summary.server_links) {
    absl::StrAppend(&text, BusiestLinkText(summary, *summary.server_links));
  }
  if (summary.test_accuracy) {
    absl::StrAppendFormat(&text, "\ntest accuracy of the averaged model: %.2f %%",
                          100 * *summary.test_accuracy);
  }
  if (summary.local_test_accuracy) {
    absl::StrAppendFormat(&text, " (nodes' own models: %.2f to %.2f %%)",
                          100 * summary.local_test_accuracy->min,
                          100 * summary.local_test_accuracy->max);
  }
  return text;
}

std::string GoesOnText(const Experiment& experiment, const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint) return "";
  std::string text = absl::StrCat("goes on after round ", checkpoint->manifest.round(), ", from ",
                                  checkpoint->path, "\n");
  if (BeginsAtMean(*checkpoint, experiment)) {
    absl::StrAppendFormat(&text,
                          "its checkpoint is of %d nodes: %d begin at the mean of its models, with "
                          "nothing else (no momentum)\n",
                          checkpoint->manifest.nodes_size(), experiment.config().nodes());
  }
  const RunPlan plan = PlanFrom(*checkpoint, experiment);
  if (plan.living.empty()) return text;
  absl::StrAppendFormat(
      &text,
      "rounds, evaluations and learning rates stay as planned for %d nodes: %d rounds, now "
      "%.4g epochs\n",
      PlannedNodes(experiment.config()), plan.rounds, plan.Epoch(plan.rounds));
  return text;
}

std::string CastText(const Experiment& experiment, std::string_view nodes) {
  const std::string graph = UsesGraph(experiment.config())
                                ? absl::StrCat(experiment.mixing().topology().name(), ", ",
                                               experiment.mixing().name(), " weights, ")
                                : "";
  return absl::StrCat(experiment.config().nodes(), " ", std::string(nodes), ", ", graph,
                      experiment.algorithm_name());
}

std::string Opening(const Experiment& experiment) {
  const Config& config = experiment.config();
  const Round rounds = experiment.rounds();
  std::string text = absl::StrCat(CastText(experiment, "nodes"), "\n");
  const std::string size = HumanSize(4.0 * static_cast<double>(experiment.layout().size));
  if (experiment.problem().data() == nullptr) {
    absl::StrAppendFormat(&text, "%s: replicas of %s%s, %d rounds\n", config.model(), size,
                          experiment.problem().learns() ? "" : " that learn nothing", rounds);
    return text;
  }
  absl::StrAppendFormat(&text, "%s on %s: %s of parameters and buffers\n", config.model(),
                        config.data(), size);
  const Rank workers = experiment.workers();
  absl::StrAppendFormat(&text, "batch %d x ", config.batch());
  if (config.accumulate() > 1) absl::StrAppend(&text, config.accumulate(), " accumulated x ");
  absl::StrAppendFormat(&text, "%d %s = %d, ", workers,
                        workers == config.nodes() ? "nodes" : "workers", experiment.global_batch());
  const bool plateaus = experiment.plan().batches.plateau().has_value();
  if (experiment.LargestGlobalBatch() > experiment.global_batch()) {
    absl::StrAppendFormat(&text, "growing %sto %d, ", plateaus ? "at plateaus up " : "",
                          experiment.LargestGlobalBatch());
  }
  absl::StrAppendFormat(&text, "%s%d rounds", plateaus ? "at most " : "", rounds);
  // If the run goes on with other nodes, the number of epochs depends on the round from which it
  // does (GoesOnText).
  if (PlannedNodes(config) == config.nodes()) {
    absl::StrAppendFormat(&text, " (%.4g epochs)", experiment.plan().Epoch(rounds));
  }
  text += "\n";
  if (const auto& scaling = experiment.rate_scaling()) {
    absl::StrAppendFormat(&text, "learning rate %g x %g = %g: %s, for a batch of %d (base %g)\n",
                          config.lr(), scaling->factor, experiment.learning_rate(),
                          config.scale_lr(), experiment.global_batch(), scaling->base);
  }
  return text;
}

namespace {

// Returns "who waited longest for whom: rank 3 for rank 7, 12.1 s; ...", or nothing.
std::string LongestWaitsText(const Summary& summary) {
  constexpr size_t kShown = 3;
  if (!summary.longest_waits || summary.longest_waits->empty()) return "";
  std::string text;
  for (const PeerWait& wait :
       std::span(*summary.longest_waits).first(std::min(kShown, summary.longest_waits->size()))) {
    absl::StrAppendFormat(&text, "%s rank %d for rank %d, %s", text.empty() ? ":" : ";", wait.rank,
                          wait.peer, HumanDuration(wait.seconds));
  }
  return absl::StrCat("who waited longest for whom", text, "\n");
}

std::string SlowestNodeText(const Summary& summary) {
  if (!summary.slowest_node) return "";
  const StepMeans& steps = *summary.steps;
  const StepMeans& slowest = summary.slowest_node->steps;
  const double work = slowest.mean_s - slowest.wait_s;
  if (!(work > 0)) return "";
  return absl::StrFormat(
      "the slowest node is rank %d: %s of work in a step (gradient %s, mixing %s), %s on average "
      "of all\n",
      summary.slowest_node->rank, HumanDuration(work), HumanDuration(slowest.gradient_s),
      HumanDuration(slowest.mix_s), HumanDuration(steps.mean_s - steps.wait_s));
}

}  // namespace

std::string StepsText(const Summary& summary) {
  if (!summary.steps) return "";
  const StepMeans& steps = *summary.steps;
  return absl::StrCat("a step takes ", HumanDuration(steps.mean_s), " on average\n",
                      StepSharesText(steps.mean_s, steps.gradient_s, steps.mix_s, steps.wait_s),
                      SlowestNodeText(summary), LongestWaitsText(summary));
}

absl::StatusOr<std::string> ClosingText(const Config& config, const std::string& run) {
  ASSIGN_OR_RETURN(const Summary summary, ReadSummary(run));
  std::string text = absl::StrCat(Conclusion(summary), "\n", StepsText(summary));
  // A run that learns nothing has no curve.
  if (summary.train_loss || summary.test_loss) {
    absl::StrAppend(&text, "plot it: grapevine plot ", run, " -o convergence.png\n");
  }
  if (config.has_trace()) {
    absl::StrAppend(&text, "trace: ", config.trace(), " (open it in ui.perfetto.dev)\n");
  }
  if (config.has_record()) {
    absl::StrAppend(&text, "recording: ", config.record(), " (run it again: grapevine replay ",
                    config.record(), ")\n");
  }
  if (config.has_profile()) {
    absl::StrAppend(&text, "profile: ", config.profile(),
                    " (use it: grapevine sim --compute=profile:", config.profile(), ")\n");
  }
  return text;
}

}  // namespace grapevine
