// The metrics that a run writes while it goes on, one JSON object per line of metrics.jsonl, and
// its results, summary.json.
//
// Losses are means over samples in nats, accuracies are fractions, and times are in seconds since
// the first round. Totals count from the start of the run. An absent value was not measured; in a
// line of metrics.jsonl, it was not measured at that round.
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

// A line of RUN/metrics.jsonl: the state of the whole run, collected by rank 0.
struct RunMetrics {
  int64_t round = 0;  // completed rounds
  double epoch = 0;   // samples seen by all nodes, divided by the size of the data set
  double time_s = 0;

  // Mean over the nodes of the losses of their batches since the last measurement.
  std::optional<double> train_loss;
  std::optional<double> learning_rate;
  // The noise of the gradients since the last measurement, with --noise-scale (base/gradient.h):
  // the means of their estimates of tr(S) and of |G|^2, and the ratio of these two means, in
  // samples.
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  // Results of the averaged model on the test set, with averaged batch-norm statistics.
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  // Results of the averaged model with batch-norm statistics re-estimated on training data.
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  // The number of test samples that the evaluation used; absent if it used all of them.
  std::optional<int64_t> test_samples;
  // The consensus distance, (1/n) sum over workers of |x_i - mean x|^2 over the parameters. It is
  // exact where the model was evaluated; elsewhere real nodes estimate it
  // (kernels/passes/sketch.h).
  std::optional<double> consensus_distance;
  // The consensus distance over the buffers (batch-norm statistics), exact; absent without buffers.
  std::optional<double> buffer_distance;

  // Bytes of payload sent by all nodes together: in the algorithm's messages of all rounds so far,
  // and, separately, in merging the models for all evaluations so far.
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> evaluation_bytes_sent_total;
  std::optional<double> samples_per_s;
  // The number of nodes that are not lost; absent until the first node is lost.
  std::optional<int64_t> living;
};

// Updates `latest`, which holds the last known value of each measurement, from `metrics`. Values
// that `metrics` lacks keep their last known value.
void Remember(const RunMetrics& metrics, RunMetrics* latest);

// The evaluation of a round's averaged model, as it is recorded.
struct EvaluationRecord {
  int64_t round = 0;
  std::optional<double> consensus_distance;  // exact; absent where no mean was taken
  std::optional<double> buffer_distance;
  // Absent for a model that learns nothing (phantom).
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  std::optional<int64_t> test_samples;  // test samples used; absent: all
  int64_t bytes_sent = 0;               // sent by all nodes to merge their models
};

// The time spent waiting for `rank`.
struct WaitedFor {
  int64_t rank = 0;
  double seconds = 0;
};
// The members of WaitedFor by name, for ToJson (json_record.h).
inline constexpr auto kWaitedForMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  visit("seconds", record.seconds);
};

// A line of RUN/node-RANK/metrics.jsonl: the state of one node, written by that node.
struct NodeMetrics {
  int64_t round = 0;
  double epoch = 0;
  double time_s = 0;

  std::optional<double> train_loss;
  std::optional<double> learning_rate;
  // The noise of the node's own gradients; see RunMetrics.
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  // The norms of the tensors, with --norms: of the last gradient since the last line for which they
  // were measured. Empty if there was none.
  std::vector<TensorNorms> norms;
  // Seconds since the last line that the node spent on gradients, on mixing and stepping, and idle,
  // waiting for peers.
  std::optional<double> gradient_s;
  std::optional<double> mix_s;
  std::optional<double> wait_s;
  // The peers for which the node waited in `wait_s`, longest wait first (step_account.h has the
  // rule); absent in older files.
  std::optional<std::vector<WaitedFor>> waited_for;
  std::optional<double> samples_per_s;
  // Bytes of payload of the algorithm's messages so far, sent and received by this node.
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> bytes_received_total;

  // For a node that shares a budget of gradients with others: the number of gradients that it has
  // computed, the seconds since the last line in which it computed none, and the staleness of the
  // gradients that it has applied, if it applies any. The staleness of a gradient is the number of
  // updates that the models had had since the replica at which the gradient was taken. `staleness`
  // counts the gradients of staleness 0, 1, 2 to 3, 4 to 7 ... (algorithm/async_gradients.h).
  std::optional<int64_t> gradients_total;
  std::optional<double> idle_s;
  std::optional<double> staleness_mean;
  std::optional<int64_t> staleness_max;
  std::optional<std::vector<int64_t>> staleness;
};

// Returns one line of JSON, without the line break.
std::string ToJsonLine(const RunMetrics& metrics);
std::string ToJsonLine(const NodeMetrics& metrics);

// A field of a line of metrics.jsonl, with its number as the line writes it.
struct NamedNumber {
  const char* name;
  std::string text;  // empty if it was not measured
};
// Returns all fields that a line may have, in the order of the line.
std::vector<NamedNumber> NumbersOf(const RunMetrics& metrics);

// Parses a line that ToJsonLine has written. Safe on hostile input; errors name the member.
absl::StatusOr<RunMetrics> RunMetricsFromJson(std::string_view line);
absl::StatusOr<NodeMetrics> NodeMetricsFromJson(std::string_view line);

// The range and mean of a quantity over nodes.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};
// The members of Spread by name, for ToJson (json_record.h).
inline constexpr auto kSpreadMembers = [](auto& record, auto&& visit) {
  visit("min", record.min);
  visit("mean", record.mean);
  visit("max", record.max);
};

// Returns the spread of `values`, one for each node. `values` must not be empty.
Spread SpreadOf(const std::vector<double>& values);

// Bytes of payload of the algorithm's messages that the links of the parameter servers carried, in
// the order of the servers' ranks.
struct ServerLinks {
  std::vector<int64_t> bytes_sent;
  std::vector<int64_t> bytes_received;
};

// The target of --target-accuracy and the first evaluation that met it. The optional members are
// absent if no evaluation met it.
struct TargetAccuracy {
  double accuracy = 0;  // target accuracy
  bool met = false;
  std::optional<int64_t> round;
  std::optional<double> epoch;
  std::optional<double> time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<double> test_accuracy;
};

// The growth of the batch. From `round[i]` on, at epoch `epoch[i]`, a step of all workers together
// has `batch[i]` samples.
struct BatchGrowth {
  std::vector<int64_t> round;  // ascending; the first is 0
  std::vector<double> epoch;
  std::vector<int64_t> batch;
};

// Means over steps. A step goes from one boundary of a worker to its next.
struct StepMeans {
  int64_t count = 0;  // at least one
  double mean_s = 0;
  // Parts of `mean_s`: on gradients, on mixing and stepping, and idle. A node may spend the same
  // time on gradients and on mixing.
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
};

// The worker whose steps have the most work: mean_s - wait_s.
struct SlowestNode {
  int64_t rank = 0;
  StepMeans steps;
};

// The time that `rank` waited for `peer`.
struct PeerWait {
  int64_t rank = 0;
  int64_t peer = 0;
  double seconds = 0;
};

// A change of the members of a run. From `round` on the run was without the nodes in `lost`, which
// died, fell silent or left, and with the nodes in `joined`.
struct MembershipChange {
  int64_t round = 0;
  std::vector<int64_t> lost;    // ranks, ascending
  std::vector<int64_t> joined;  // ranks, ascending
};

// The results of a run. If a target was met, the model that is kept and the losses, accuracies and
// consensus distance are those of the evaluation that met it.
struct Summary {
  int64_t nodes = 0;
  // The number of nodes that compute gradients: all except the parameter servers.
  std::optional<int64_t> workers;
  std::string topology;  // canonical specs
  std::string mixing;
  std::string algorithm;
  std::string model;
  // The model that is evaluated and kept: "servers' weights"; absent: the mean of the workers'
  // models.
  std::optional<std::string> evaluated;
  std::string data;
  int64_t seed = 0;

  int64_t rounds = 0;
  double epochs = 0;
  std::string stopped;  // why the run ended: "finished", "target accuracy", ...
  // The duration of the run. One of the two is present: a simulated run has its own clock.
  std::optional<double> wall_time_s;
  std::optional<double> simulated_time_s;
  std::optional<int64_t> bytes_sent_total;
  std::optional<int64_t> evaluation_bytes_sent_total;
  std::optional<double> samples_per_s;

  std::optional<double> train_loss;
  std::optional<double> gradient_variance;
  std::optional<double> gradient_square;
  std::optional<double> noise_scale;
  std::optional<double> test_loss;  // result of the averaged model
  std::optional<double> test_accuracy;
  std::optional<double> test_loss_recalibrated;
  std::optional<double> test_accuracy_recalibrated;
  std::optional<Spread> local_test_accuracy;  // results of the nodes' own models
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;

  // For nodes that share a budget of gradients. `gradients` and `idle_s` are spreads over the
  // workers: the number of gradients that each has computed, and the time in which it computed
  // none. The staleness is over all gradients that were applied: the number of updates that the
  // models had had since the replicas at which the gradients were taken.
  std::optional<Spread> gradients;
  std::optional<Spread> idle_s;
  std::optional<double> staleness_mean;
  std::optional<int64_t> staleness_max;

  // The steps of real nodes since the run began or last went on from a checkpoint: of all workers,
  // and of the slowest worker if there are several. A simulated run has more detail (statistics.h).
  std::optional<StepMeans> steps;
  std::optional<SlowestNode> slowest_node;
  // The longest waits of a worker for a peer, longest first, at most kMostLongestWaits: of real
  // nodes since the run began or last went on from a checkpoint, and of simulated nodes. Absent in
  // older files.
  static constexpr size_t kMostLongestWaits = 10;
  std::optional<std::vector<PeerWait>> longest_waits;

  // The number of nodes in the run at its end, and the changes that led to it. Absent if no node
  // was lost.
  std::optional<int64_t> living;
  std::optional<std::vector<MembershipChange>> membership;
  std::optional<BatchGrowth> batch_growth;  // absent if it did not grow
  std::optional<ServerLinks> server_links;  // absent if no node is a server
  std::optional<TargetAccuracy> target;
};

// Returns indented JSON with a line break at the end.
std::string ToJsonText(const Summary& summary);
// Parses what ToJsonText has written. Safe on hostile input; errors name the member.
absl::StatusOr<Summary> SummaryFromJson(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_METRICS_H_
