// The metrics that a run writes as it goes, one JSON object per line of metrics.jsonl, and its
// results, summary.json.
//
// Losses are means over samples in nats; accuracies are fractions; times are in seconds since the
// first round; totals count from the start of the run. Absent values were not measured; in a
// line, not at that round.
#ifndef GRAPEVINE_RUN_RECORDS_METRICS_H_
#define GRAPEVINE_RUN_RECORDS_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/gradient.h"

namespace grapevine {

// A line of RUN/metrics.jsonl: the whole run, collected by rank 0.
struct RunMetrics {
  int64_t round = 0;  // completed rounds
  double epoch = 0;   // samples seen by all nodes over the size of the data set
  double time_s = 0;

  // Mean over the nodes of their batches' losses since the last measurement.
  std::optional<double> train_loss;
  std::optional<double> learning_rate;
  // With --noise-scale, of the gradients since the last measurement (base/gradient.h): the
  // means over them of the estimates of tr(S) and |G|^2, and the ratio of these, in samples.
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  // The averaged model on the test set, with averaged batch-norm statistics ...
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  // ... and with statistics re-estimated on training data.
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  // How many of the test set these are of, where they are not of all.
  std::optional<int64_t> test_samples;
  // (1/n) sum over workers of |x_i - mean x|^2 over the parameters: exact where the model
  // was evaluated; elsewhere real nodes estimate it (kernels/passes/sketch.h).
  std::optional<double> consensus_distance;
  // The same over the buffers (batch-norm statistics), if there are any: exact.
  std::optional<double> buffer_distance;

  // Summed over all nodes, in bytes of payload: of the algorithm's messages in all rounds so far
  // and, separately, of merging the models for all evaluations so far.
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> evaluation_bytes_sent_total;
  std::optional<double> samples_per_s;
  // Nodes that are not lost, once one is.
  std::optional<int64_t> living;
};

// Updates `latest`, the last known value of each measurement: not every round has all.
void Remember(const RunMetrics& metrics, RunMetrics* latest);

// The evaluation of a round's averaged model, as the records of a run have it.
struct EvaluationRecord {
  int64_t round = 0;
  std::optional<double> consensus_distance;  // exact; absent where no mean was taken
  std::optional<double> buffer_distance;
  // Absent for a model that learns nothing (phantom).
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  std::optional<int64_t> test_samples;  // that were looked at, where these are not all
  int64_t bytes_sent = 0;  // by all nodes, to merge their models for it
};

// How long others waited for `rank`.
struct WaitedFor {
  int64_t rank = 0;
  double seconds = 0;
};
// Its members by name, for ToJson (json_record.h).
inline constexpr auto kWaitedForMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  visit("seconds", record.seconds);
};

// A line of RUN/node-RANK/metrics.jsonl: one node, written by itself.
struct NodeMetrics {
  int64_t round = 0;
  double epoch = 0;
  double time_s = 0;

  std::optional<double> train_loss;
  std::optional<double> learning_rate;
  // As in RunMetrics, of its own gradients.
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  // With --norms, of the last gradient that was measured since the last line; else empty.
  std::vector<TensorNorms> norms;
  // Seconds since the last line that the node spent on gradients, on mixing and stepping, and
  // idle, waiting for peers.
  std::optional<double> gradient_s;
  std::optional<double> mix_s;
  std::optional<double> wait_s;
  // Of that, for whom, longest first (step_account.h has the rule); absent in older files.
  std::optional<std::vector<WaitedFor>> waited_for;
  std::optional<double> samples_per_s;
  // As in RunMetrics, without evaluations.
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> bytes_received_total;

  // Where nodes share a budget of gradients: how many it has computed, the seconds since the last
  // line in which it computed none, and how many updates the models had had since the replicas at
  // which those were taken that it has applied, if it applies any: how many had none, 1, 2 to 3,
  // 4 to 7 ... (algorithm/async_gradients.h).
  std::optional<int64_t> gradients_total;
  std::optional<double> idle_s;
  std::optional<double> staleness_mean;
  std::optional<int64_t> staleness_max;
  std::optional<std::vector<int64_t>> staleness;
};

// One line of JSON, without the line break.
std::string ToJsonLine(const RunMetrics& metrics);
std::string ToJsonLine(const NodeMetrics& metrics);

// A field of a line, and its number as the line has it.
struct NamedNumber {
  const char* name;
  std::string text;  // empty where it was not measured
};
// All fields that a line may have, in its order.
std::vector<NamedNumber> NumbersOf(const RunMetrics& metrics);

// The inverse, safe on hostile input. Errors name the member.
absl::StatusOr<RunMetrics> RunMetricsFromJson(std::string_view line);
absl::StatusOr<NodeMetrics> NodeMetricsFromJson(std::string_view line);

// Over nodes.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};
// Its members by name, for ToJson (json_record.h).
inline constexpr auto kSpreadMembers = [](auto& record, auto&& visit) {
  visit("min", record.min);
  visit("mean", record.mean);
  visit("max", record.max);
};

// `values`: one per node, at least one.
Spread SpreadOf(const std::vector<double>& values);

// What the links of the parameter servers carried, in bytes of payload of the algorithm's messages,
// in the order of the servers' ranks.
struct ServerLinks {
  std::vector<int64_t> bytes_sent;
  std::vector<int64_t> bytes_received;
};

// The target of --target-accuracy and the first evaluation that met it, whose members are absent
// if none did.
struct TargetAccuracy {
  double accuracy = 0;  // asked for
  bool met = false;
  std::optional<int64_t> round;
  std::optional<double> epoch;
  std::optional<double> time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<double> test_accuracy;
};

// How the batch grew: from each of these rounds on, at that many epochs, a step of all workers
// together has so many samples.
struct BatchGrowth {
  std::vector<int64_t> round;  // ascending, from 0 on
  std::vector<double> epoch;
  std::vector<int64_t> batch;
};

// Means over steps, each from one boundary of a worker to its next.
struct StepMeans {
  int64_t count = 0;  // at least one
  double mean_s = 0;
  // Of it: on gradients, on mixing and stepping (a node may do both at once), and idle.
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
};

// The worker whose steps have the most work: mean_s - wait_s.
struct SlowestNode {
  int64_t rank = 0;
  StepMeans steps;
};

// How long rank waited for one of its peers.
struct PeerWait {
  int64_t rank = 0;
  int64_t peer = 0;
  double seconds = 0;
};

// Who was in the run: from this round on it was without the lost (those who died, fell silent or
// left), and with those who came in.
struct MembershipChange {
  int64_t round = 0;
  std::vector<int64_t> lost;    // ranks, ascending
  std::vector<int64_t> joined;  // ranks, ascending
};

// If a target was met, the model that is kept, its losses, accuracies and consensus distance are
// those of the evaluation that met it.
struct Summary {
  int64_t nodes = 0;
  // Those of them that compute gradients: all except the parameter servers.
  std::optional<int64_t> workers;
  std::string topology;  // canonical specs
  std::string mixing;
  std::string algorithm;
  std::string model;
  // What is evaluated and kept: "servers' weights"; absent: the mean of the workers' models.
  std::optional<std::string> evaluated;
  std::string data;
  int64_t seed = 0;

  int64_t rounds = 0;
  double epochs = 0;
  std::string stopped;  // why it ended: "finished", "target accuracy", ...
  // One of the two: a simulated run has its own clock.
  std::optional<double> wall_time_s;
  std::optional<double> simulated_time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> evaluation_bytes_sent_total;
  std::optional<double> samples_per_s;

  std::optional<double> train_loss;
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  std::optional<double> test_loss;  // of the averaged model
  std::optional<double> test_accuracy;
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  std::optional<Spread> local_test_accuracy;  // of the nodes' own models
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;

  // Where nodes share a budget of gradients: over the workers, how many each has computed and for
  // how long it computed none; over all gradients that were applied, how many updates the models
  // had had since the replicas at which they were taken.
  std::optional<Spread> gradients;
  std::optional<Spread> idle_s;
  std::optional<double> staleness_mean;
  std::optional<int64_t> staleness_max;

  // Of real nodes, since the run began or last went on from a checkpoint: over the steps of all
  // workers, and of the slowest of several. A simulated run has more (statistics.h).
  std::optional<StepMeans> steps;
  std::optional<SlowestNode> slowest_node;
  // Likewise, and of simulated nodes: who of the workers waited longest for whom, longest first; at
  // most kMostLongestWaits. Absent in older files.
  static constexpr size_t kMostLongestWaits = 10;
  std::optional<std::vector<PeerWait>> longest_waits;

  // Nodes that were there at the end, and how they became so many; absent where nobody was lost.
  std::optional<int64_t> living;
  std::optional<std::vector<MembershipChange>> membership;
  std::optional<BatchGrowth> batch_growth;  // absent where it did not grow
  std::optional<ServerLinks> server_links;  // absent where no node is a server
  std::optional<TargetAccuracy> target;
};

// Indented JSON with a line break at the end.
std::string ToJsonText(const Summary& summary);
// The inverse, safe on hostile input. Errors name the member.
absl::StatusOr<Summary> SummaryFromJson(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_METRICS_H_
