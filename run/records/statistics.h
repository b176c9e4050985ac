// Statistics of where the time of a run's steps went: RUN/statistics.json (docs/statistics.md).
#ifndef GRAPEVINE_RUN_RECORDS_STATISTICS_H_
#define GRAPEVINE_RUN_RECORDS_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "run/records/metrics.h"

namespace grapevine {

// Quantiles of any number of durations in little memory. Below 1024 ns each duration has a bucket
// of its own; above, each power of two is split into 512 buckets, so that a quantile is within
// 0.1 % of a duration that occurred. Quantiles use integer arithmetic: the same durations give the
// same quantiles in any order, on every machine. Thread-compatible.
class DurationHistogram {
 public:
  // Adds a duration. Negative durations count as 0.
  void Add(int64_t nanoseconds);
  void Merge(const DurationHistogram& other);

  int64_t count() const { return count_; }
  // Exact values; 0 without durations.
  int64_t min() const { return count_ > 0 ? min_ : 0; }
  int64_t max() const { return max_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  // Returns the smallest duration that at least a fraction `q` of all durations do not exceed, `q`
  // in [0, 1]. Exact for q = 0 and q = 1; 0 without durations.
  int64_t Quantile(double q) const;

 private:
  std::vector<int64_t> buckets_;  // up to the highest bucket in use
  int64_t count_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

struct NodeStatistics {
  int64_t rank = 0;
  int64_t steps = 0;
  // Sums over the steps.
  double gradient_s = 0;
  double mix_s = 0;   // mixing, stepping, handling of messages
  double wait_s = 0;  // idle
  // The peers for which the node waited, longest wait first; at most four.
  std::vector<WaitedFor> waited_for;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
};

// One direction of a link of a physical network.
struct LinkStatistics {
  std::string name;
  int64_t bytes = 0;       // bytes of the messages that began to cross the link
  double utilization = 0;  // share of what the link could have carried in the whole run
};

struct Statistics {
  int64_t nodes = 0;
  double time_s = 0;  // duration of the whole run
  // Durations of steps, from boundary to boundary, over all workers and rounds.
  DurationHistogram steps;
  // Means over the steps.
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
  // The nodes for which the workers waited in these steps, longest wait first; at most ten.
  std::vector<WaitedFor> waited_for;
  // Spreads over the nodes.
  Spread bytes_sent;
  Spread bytes_received;
  // Fractions of the time in which an interface sends (receives) at its full rate; absent if the
  // rate is unknown.
  std::optional<Spread> egress_utilization;
  std::optional<Spread> ingress_utilization;
  // The busiest links, busiest first, at most ten; empty if links are not modelled individually.
  std::vector<LinkStatistics> busiest_links;
  // Statistics of single nodes, by rank; in a large run, only of those that waited longest.
  std::vector<NodeStatistics> listed;
};

// The distribution of step times as the file gives it.
struct StepTimes {
  int64_t count = 0;
  double mean_s = 0;
  double min_s = 0;
  double median_s = 0;
  double p95_s = 0;
  double p99_s = 0;
  double max_s = 0;
};

// Statistics as read from a file. The file holds only `step_times` of the histogram
// `statistics.steps`.
struct RecordedStatistics {
  StepTimes step_times;
  Statistics statistics;
};

// Returns indented JSON with a line break at the end.
std::string ToJsonText(const Statistics& statistics);
// Parses what ToJsonText has written. Safe on hostile input; errors name the member.
absl::StatusOr<RecordedStatistics> StatisticsFromJson(std::string_view text);

// Returns a line on the shares of a mean step, "of it: gradient 80.0 %, mixing 3.0 %, waiting
// 17.0 %"; empty if the step takes no time.
std::string StepSharesText(double step_s, double gradient_s, double mix_s, double wait_s);

// Returns a few lines for a terminal, each with its line break.
std::string ToReadableText(const Statistics& statistics);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_STATISTICS_H_
