// What came out of a run: RUN/summary.json.
#ifndef GRAPEVINE_RUN_RECORDS_SUMMARY_H_
#define GRAPEVINE_RUN_RECORDS_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// Over the nodes that have a model.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};

// Of at least one value, one a node.
Spread SpreadOf(const std::vector<double>& values);

// What --target-accuracy asked for, and the first evaluation that met it: absent where
// none did.
struct TargetAccuracy {
  double accuracy = 0;  // asked for
  bool met = false;
  std::optional<int64_t> round;
  std::optional<double> epoch;
  std::optional<double> time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<double> test_accuracy;
};

// Units and meanings as in run/records/metrics.h; absent values were not measured. Where a target
// was met, the model that is kept, its losses, accuracies and consensus distance are those
// of the evaluation that met it.
struct Summary {
  int64_t nodes = 0;
  // Of these, the ones that compute gradients: all but the parameter servers.
  std::optional<int64_t> workers;
  std::string topology;  // canonical specs
  std::string mixing;
  std::string algorithm;
  std::string model;
  std::string data;
  int64_t seed = 0;

  int64_t rounds = 0;
  double epochs = 0;
  std::string stopped;  // why it ended: "finished", "target accuracy", ...
  // One of both: a simulated run has its own clock.
  std::optional<double> wall_time_s;
  std::optional<double> simulated_time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> evaluation_bytes_sent_total;
  std::optional<double> samples_per_s;

  std::optional<double> train_loss;
  std::optional<double> test_loss;  // of the averaged model
  std::optional<double> test_accuracy;
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  std::optional<Spread> local_test_accuracy;  // of the nodes' own models
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;

  std::optional<TargetAccuracy> target;
};

// Indented JSON with a line break at the end.
std::string ToJsonText(const Summary& summary);
// The inverse, safe on hostile input. Errors name the member.
absl::StatusOr<Summary> SummaryFromJson(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_SUMMARY_H_
