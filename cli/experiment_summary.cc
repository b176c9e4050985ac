#include "cli/experiment_summary.h"

namespace grapevine {

Summary SummaryOf(const Experiment& experiment, const RunMetrics& latest) {
  const Config& config = experiment.config();
  Summary summary{.nodes = config.nodes(),
                  .workers = experiment.workers(),
                  .topology = experiment.mixing().topology().name(),
                  .mixing = experiment.mixing().name(),
                  .algorithm = config.algorithm(),
                  .model = config.model(),
                  .data = experiment.problem().data() != nullptr ? config.data() : "",
                  .seed = static_cast<int64_t>(config.seed()),
                  .rounds = latest.round,
                  .epochs = latest.epoch,
                  .stopped = "finished",
                  .bytes_sent_total = latest.bytes_sent_total,
                  .evaluation_bytes_sent_total = latest.evaluation_bytes_sent_total,
                  .train_loss = latest.train_loss,
                  .test_loss = latest.test_loss,
                  .test_accuracy = latest.test_accuracy,
                  .test_loss_recalibrated = latest.test_loss_recalibrated,
                  .test_accuracy_recalibrated = latest.test_accuracy_recalibrated,
                  .consensus_distance = latest.consensus_distance};
  if (latest.time_s > 0) {
    summary.samples_per_s =
        static_cast<double>(latest.round * experiment.global_batch()) / latest.time_s;
  }
  return summary;
}

}  // namespace grapevine
