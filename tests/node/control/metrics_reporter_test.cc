
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "node/control/node_metrics.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr size_t kPlaces = 2;
constexpr int64_t kSamples = 10;
constexpr MetricsReporter::Time kSoon = MetricsReporter::Time::max();

// A node that reports to a collector, over a queue of two places that somebody empties.
class MetricsReporterTest : public ::testing::Test {
 protected:
  absl::Status Queue(MetricsReporter::Time deadline, control::Report report) {
    if (over_) return absl::AbortedError("the run is over");
    // Whoever waits long enough gets a place.
    while (queue_.size() >= kPlaces && reads_ && deadline == kSoon) Read();
    if (queue_.size() >= kPlaces) return absl::ResourceExhaustedError("2 reports wait for rank 0");
    queue_.push_back(std::move(report));
    return absl::OkStatus();
  }
  void Read() {
    const control::Report report = std::move(queue_.front());
    queue_.pop_front();
    if (report.has_done()) return void(done_ = true);
    ASSERT_FALSE(done_);
    ASSERT_EQ(collector_.OnNode(0, report.metrics()), absl::OkStatus());
  }
  void ReadAll() {
    while (!queue_.empty()) Read();
  }

  void Measure(Round round, double loss_sum) {
    control::NodeMetrics metrics;
    metrics.set_round(round);
    metrics.set_time_s(static_cast<double>(round));
    metrics.set_train_loss_sum(loss_sum);
    metrics.set_samples(kSamples);
    measured_ += loss_sum;
    reporter_.Report(std::move(metrics));
  }
  absl::Status SayDone() {
    control::Report done;
    done.mutable_done()->set_round_limit(7);
    return reporter_.Tell(std::move(done), kSoon);
  }
  // The sum of what metrics.jsonl tells the means of.
  double Told() const {
    double sum = 0, before = 0;
    for (const RunMetrics& metrics : emitted_) {
      const double rounds =
          static_cast<double>(metrics.round) - std::exchange(before, metrics.round);
      sum += *metrics.train_loss * rounds * kSamples;
    }
    return sum;
  }

  bool reads_ = true;
  bool over_ = false;
  bool done_ = false;
  double measured_ = 0;
  std::deque<control::Report> queue_;
  std::vector<RunMetrics> emitted_;
  MetricsCollector collector_{{.evaluated = [](Round) { return false; },
                               .at = [](Round round) { return TrainingPoint{.round = round}; }},
                              [this](const RunMetrics& metrics) { emitted_.push_back(metrics); }};
  MetricsReporter reporter_{[this](MetricsReporter::Time deadline, control::Report report) {
    return Queue(deadline, std::move(report));
  }};
};

TEST_F(MetricsReporterTest, WhatFindsNoPlaceGoesOnIntoTheNextReport) {
  for (Round round = 1; round <= 5; ++round) Measure(round, static_cast<double>(round * round));
  ReadAll();
  Measure(6, 2.5);
  ReadAll();
  ASSERT_EQ(emitted_.size(), 3u);  // rounds 1, 2 and 6
  EXPECT_DOUBLE_EQ(*emitted_.back().train_loss, (9 + 16 + 25 + 2.5) / (4 * kSamples));
  EXPECT_DOUBLE_EQ(Told(), measured_);
}

TEST_F(MetricsReporterTest, TheLastRoundIsReportedBeforeTheNodeIsDone) {
  for (Round round = 1; round <= 7; ++round) Measure(round, static_cast<double>(round));
  EXPECT_EQ(SayDone(), absl::OkStatus());
  ReadAll();
  EXPECT_TRUE(done_);
  ASSERT_FALSE(emitted_.empty());
  EXPECT_EQ(emitted_.back().round, 7);
  EXPECT_DOUBLE_EQ(Told(), measured_);
}

TEST_F(MetricsReporterTest, ALastRoundThatCannotBeReportedIsAFailure) {
  reads_ = false;
  for (Round round = 1; round <= 3; ++round) Measure(round, 1);
  const absl::Status lost = SayDone();
  EXPECT_EQ(FailureOf(lost), Failure::kPeerLost);
  EXPECT_THAT(std::string(lost.message()),
              AllOf(HasSubstr("last measurements cannot be sent: 2 reports wait for rank 0"),
                    HasSubstr("--peer-timeout")));
}

TEST_F(MetricsReporterTest, WhenTheRunIsOverThatIsTheReason) {
  over_ = true;
  Measure(1, 1);
  EXPECT_EQ(SayDone(), absl::AbortedError("the run is over"));
}

}  // namespace
}  // namespace grapevine
