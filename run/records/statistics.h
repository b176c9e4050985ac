// Where the time of a run's steps went: RUN/statistics.json (docs/statistics.md).
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

// Quantiles of any number of durations in little memory: below 1024 ns each has a bucket; above,
// each power of two is split into 512 buckets, so that a quantile is within 0.1 % of a duration
// that occurred. Integer arithmetic: the same durations give the same quantiles in any order, on
// every machine. Thread-compatible.
class DurationHistogram {
 public:
  // Nanoseconds; negative durations count as 0.
  void Add(int64_t nanoseconds);
  void Merge(const DurationHistogram& other);

  int64_t count() const { return count_; }
  // Exact; 0 if there are none.
  int64_t min() const { return count_ > 0 ? min_ : 0; }
  int64_t max() const { return max_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  // The smallest duration that at least a fraction q of all do not exceed, q in [0, 1]; exact for
  // q = 0 and 1. 0 if there are none.
  int64_t Quantile(double q) const;

 private:
  std::vector<int64_t> buckets_;  // as many as were needed
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
  // Whom it waited for, longest first; at most four.
  std::vector<WaitedFor> waited_for;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
};

// One direction of a link of a physical network.
struct LinkStatistics {
  std::string name;
  int64_t bytes = 0;       // of the messages that began to cross it
  double utilization = 0;  // relative to what it could have carried in the whole run
};

struct Statistics {
  int64_t nodes = 0;
  double time_s = 0;  // of the whole run
  // From boundary to boundary, over all workers and rounds.
  DurationHistogram steps;
  // Means over the steps.
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
  // Whom those that take these steps waited for, longest first; at most ten.
  std::vector<WaitedFor> waited_for;
  // Over the nodes.
  Spread bytes_sent;
  Spread bytes_received;
  // Fractions of the time in which an interface sends (receives) at its full rate; absent if its
  // rate is unknown.
  std::optional<Spread> egress_utilization;
  std::optional<Spread> ingress_utilization;
  // Busiest first, at most ten; none if links are not modelled individually.
  std::vector<LinkStatistics> busiest_links;
  // By rank; in a large run, only those that waited longest.
  std::vector<NodeStatistics> listed;
};

// What the file says of the distribution of step times.
struct StepTimes {
  int64_t count = 0;
  double mean_s = 0;
  double min_s = 0;
  double median_s = 0;
  double p95_s = 0;
  double p99_s = 0;
  double max_s = 0;
};

// As read from a file, which has no more of `statistics.steps` than `step_times`.
struct RecordedStatistics {
  StepTimes step_times;
  Statistics statistics;
};

// Indented JSON with a line break at the end.
std::string ToJsonText(const Statistics& statistics);
// The inverse, safe on hostile input. Errors name the member.
absl::StatusOr<RecordedStatistics> StatisticsFromJson(std::string_view text);

// "of it: gradient 80.0 %, mixing 3.0 %, waiting 17.0 %", as a line, of a mean step; nothing where
// it takes no time.
std::string StepSharesText(double step_s, double gradient_s, double mix_s, double wait_s);

// A few lines for a terminal, each with its line break.
std::string ToReadableText(const Statistics& statistics);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_STATISTICS_H_
