#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/control/node_metrics.h"
#include "run/records/awaited_peers.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

control::NodeMetrics Report(Round round, double loss_sum, std::vector<double> sketch = {}) {
  control::NodeMetrics report;
  report.set_round(round);
  report.set_time_s(2.0 * static_cast<double>(round));
  report.set_train_loss_sum(loss_sum);
  report.set_samples(10);
  report.set_bytes_sent(100 * round);
  for (double value : sketch) report.add_sketch(value);
  return report;
}

class MetricsCollectorTest : public ::testing::Test {
 protected:
  MetricsCollector Collector(Rank size, Round evaluated_every = 0, Rank servers = 0) {
    return MetricsCollector(
        {.size = size,
         .workers = size - servers,
         .measures_noise = measures_noise_,
         .evaluated =
             [=](Round round) { return evaluated_every > 0 && round % evaluated_every == 0; },
         .at =
             [](Round round) {
               const auto r = static_cast<double>(round);
               return TrainingPoint{.round = round, .epoch = r / 2, .learning_rate = 1 / r};
             }},
        [this](const RunMetrics& metrics) { emitted_.push_back(metrics); });
  }
  bool measures_noise_ = true;  // by the collectors that are made
  std::vector<RunMetrics> emitted_;
};

TEST_F(MetricsCollectorTest, JoinsTheReportsOfARoundOnceAllAreThere) {
  MetricsCollector collector = Collector(2);
  ASSERT_TRUE(collector.OnNode(0, Report(3, 5, {0, 1})).ok());
  EXPECT_TRUE(emitted_.empty());
  ASSERT_TRUE(collector.OnNode(1, Report(3, 15, {2, 1})).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_EQ(emitted_[0].round, 3);
  EXPECT_DOUBLE_EQ(*emitted_[0].train_loss, 1.0);
  EXPECT_DOUBLE_EQ(*emitted_[0].learning_rate, 1.0 / 3);
  EXPECT_DOUBLE_EQ(emitted_[0].epoch, 1.5);
  EXPECT_DOUBLE_EQ(*emitted_[0].consensus_distance, 1.0);  // mean (1, 1)
  EXPECT_EQ(*emitted_[0].bytes_sent_total, 600);
  EXPECT_DOUBLE_EQ(*emitted_[0].samples_per_s, 20 / 6.0);
  EXPECT_FALSE(emitted_[0].test_accuracy.has_value());
}

TEST_F(MetricsCollectorTest, EqualReplicasAreAtNoDistanceAtAll) {
  MetricsCollector collector = Collector(6);
  for (Rank rank : {0, 1, 2, 3, 4, 5}) {
    ASSERT_TRUE(collector.OnNode(rank, Report(3, 5, {0.1, -0.7, 1e6 + 0.3})).ok());
  }
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_EQ(*emitted_[0].consensus_distance, 0);
}

TEST_F(MetricsCollectorTest, WhereNothingIsLearntThereIsNoLoss) {
  MetricsCollector collector = Collector(2);
  for (Rank rank : {0, 1}) {
    control::NodeMetrics report = Report(3, 0);
    report.clear_train_loss_sum();
    ASSERT_TRUE(collector.OnNode(rank, report).ok());
  }
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_FALSE(emitted_[0].train_loss.has_value());
  EXPECT_TRUE(emitted_[0].samples_per_s.has_value());
}

TEST_F(MetricsCollectorTest, TheLossIsTheMeanOfThoseWhoKnowTheirs) {
  MetricsCollector collector = Collector(2);
  control::NodeMetrics silent = Report(3, 0);
  silent.clear_train_loss_sum();
  ASSERT_TRUE(collector.OnNode(0, silent).ok());
  ASSERT_TRUE(collector.OnNode(1, Report(3, 15)).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_DOUBLE_EQ(*emitted_[0].train_loss, 1.5) << "of the 10 samples of rank 1";
  EXPECT_DOUBLE_EQ(*emitted_[0].samples_per_s, 20 / 6.0);
}

TEST_F(MetricsCollectorTest, WaitsForTheEvaluationAndKeepsTheOrderOfRounds) {
  MetricsCollector collector = Collector(1, /*evaluated_every=*/2);
  ASSERT_TRUE(collector.OnNode(0, Report(2, 1, {0})).ok());
  ASSERT_TRUE(collector.OnNode(0, Report(3, 1, {0})).ok());
  EXPECT_TRUE(emitted_.empty());
  collector.OnEvaluation({.round = 2, .consensus_distance = 0.25, .test_accuracy = 0.9});
  ASSERT_EQ(emitted_.size(), 2u);
  EXPECT_EQ(emitted_[0].round, 2);
  EXPECT_DOUBLE_EQ(*emitted_[0].test_accuracy, 0.9);
  EXPECT_DOUBLE_EQ(*emitted_[0].consensus_distance, 0.25) << "the exact one, not the sketch's";
  EXPECT_EQ(emitted_[1].round, 3);
  EXPECT_DOUBLE_EQ(*collector.latest().test_accuracy, 0.9);
  EXPECT_EQ(collector.latest().round, 3);
}

TEST_F(MetricsCollectorTest, RefusesRepeatedAndLateReportsByRankAndRound) {
  MetricsCollector collector = Collector(2);
  ASSERT_TRUE(collector.OnNode(1, Report(4, 1)).ok());
  EXPECT_THAT(std::string(collector.OnNode(1, Report(4, 1)).message()),
              HasSubstr("rank 1 reported round 4 twice"));
  ASSERT_TRUE(collector.OnNode(0, Report(4, 1)).ok());
  EXPECT_THAT(std::string(collector.OnNode(0, Report(3, 1)).message()),
              HasSubstr("rank 0 reported round 3 after round 4"));
}

TEST_F(MetricsCollectorTest, WhoStopsReportingIsNamedNotWhoGoesOn) {
  MetricsCollector collector = Collector(2);
  for (size_t i = 1; i <= MetricsCollector::kMaxOpen; ++i) {
    ASSERT_TRUE(collector.OnNode(0, Report(static_cast<Round>(i), 1)).ok());
  }
  const absl::Status status = collector.OnNode(0, Report(1 << 20, 1));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 1 has reported nothing after round 0"));
}

// A run may do many rounds between two evaluations, and an evaluation take long.
TEST_F(MetricsCollectorTest, MeasurementsBehindASlowEvaluationAreJoinedNotLost) {
  MetricsCollector collector = Collector(2, /*evaluated_every=*/1 << 20);
  const Round begin = 1 << 20, rounds = 2 * static_cast<Round>(MetricsCollector::kMaxOpen);
  for (Round round = begin; round < begin + rounds; ++round) {
    for (const Rank rank : {0, 1}) ASSERT_TRUE(collector.OnNode(rank, Report(round, 3)).ok());
  }
  EXPECT_TRUE(emitted_.empty());
  collector.OnEvaluation({.round = begin, .test_accuracy = 0.5});
  ASSERT_GE(emitted_.size(), MetricsCollector::kMaxOpen / 2);
  EXPECT_LE(emitted_.size(), MetricsCollector::kMaxOpen);
  EXPECT_DOUBLE_EQ(*emitted_[0].test_accuracy, 0.5);
  EXPECT_EQ(emitted_.back().round, begin + rounds - 1);
  for (size_t i = 2; i < emitted_.size(); ++i) {
    EXPECT_DOUBLE_EQ(*emitted_[i].train_loss, 0.3);
    EXPECT_DOUBLE_EQ(*emitted_[i].samples_per_s, 10.0) << "what was joined counts its samples";
  }
}

TEST_F(MetricsCollectorTest, ALostReportCostsItsLineAlone) {
  MetricsCollector collector = Collector(2);
  ASSERT_TRUE(collector.OnNode(0, Report(1, 10)).ok());
  ASSERT_TRUE(collector.OnNode(0, Report(2, 30)).ok());
  ASSERT_TRUE(collector.OnNode(1, Report(2, 20)).ok());  // that of round 1 never comes
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_EQ(emitted_[0].round, 2);
  EXPECT_DOUBLE_EQ(*emitted_[0].train_loss, 2.0) << "of 30 samples";
  EXPECT_EQ(*emitted_[0].bytes_sent_total, 400);
  ASSERT_TRUE(collector.OnNode(0, Report(3, 10)).ok());
  ASSERT_TRUE(collector.OnNode(1, Report(3, 10)).ok());
  EXPECT_EQ(emitted_.back().round, 3);
}

TEST_F(MetricsCollectorTest, TheEvaluationOfARoundWithALostReportIsKept) {
  MetricsCollector collector = Collector(2, /*evaluated_every=*/2);
  ASSERT_TRUE(collector.OnNode(0, Report(2, 10)).ok());
  ASSERT_TRUE(collector.OnNode(1, Report(3, 20)).ok());
  ASSERT_TRUE(collector.OnNode(0, Report(3, 10)).ok());
  EXPECT_TRUE(emitted_.empty());
  collector.OnEvaluation({.round = 2, .test_accuracy = 0.75});
  ASSERT_EQ(emitted_.size(), 2u);
  EXPECT_EQ(emitted_[0].round, 2);
  EXPECT_DOUBLE_EQ(*emitted_[0].test_accuracy, 0.75);
  EXPECT_FALSE(emitted_[0].train_loss.has_value());
  EXPECT_FALSE(emitted_[0].bytes_sent_total.has_value());
  EXPECT_EQ(emitted_[1].round, 3);
  EXPECT_DOUBLE_EQ(*emitted_[1].train_loss, 40 / 30.0);
}

TEST_F(MetricsCollectorTest, LocalAccuraciesAreReportedOnceAllNodesHaveOne) {
  MetricsCollector collector = Collector(2);
  control::NodeMetrics report;
  report.set_test_accuracy(0.5);
  ASSERT_TRUE(collector.OnNode(0, report).ok());
  EXPECT_FALSE(collector.local_test_accuracy().has_value());
  report.set_test_accuracy(0.75);
  ASSERT_TRUE(collector.OnNode(1, report).ok());
  EXPECT_DOUBLE_EQ(collector.local_test_accuracy()->min, 0.5);
  EXPECT_DOUBLE_EQ(collector.local_test_accuracy()->mean, 0.625);
  EXPECT_DOUBLE_EQ(collector.local_test_accuracy()->max, 0.75);
}

TEST_F(MetricsCollectorTest, OfAParameterServerTimeAndTrafficCount) {
  MetricsCollector collector = Collector(3, /*evaluated_every=*/0, /*servers=*/1);
  ASSERT_TRUE(collector.OnNode(0, Report(3, 5, {0, 1})).ok());
  ASSERT_TRUE(collector.OnNode(1, Report(3, 15, {2, 1})).ok());
  EXPECT_TRUE(emitted_.empty()) << "the server's bytes are missing";
  control::NodeMetrics server;
  server.set_round(3);
  server.set_time_s(7);
  server.set_bytes_sent(1000);
  ASSERT_TRUE(collector.OnNode(2, server).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_DOUBLE_EQ(*emitted_[0].train_loss, 1.0);
  EXPECT_DOUBLE_EQ(*emitted_[0].consensus_distance, 1.0);
  EXPECT_EQ(*emitted_[0].bytes_sent_total, 1600);
  EXPECT_DOUBLE_EQ(emitted_[0].time_s, 7);
  EXPECT_DOUBLE_EQ(*emitted_[0].samples_per_s, 20 / 7.0);

  control::NodeMetrics evaluation;
  evaluation.set_test_accuracy(0.5);
  ASSERT_TRUE(collector.OnNode(0, evaluation).ok());
  EXPECT_FALSE(collector.local_test_accuracy().has_value());
  ASSERT_TRUE(collector.OnNode(1, evaluation).ok());
  EXPECT_DOUBLE_EQ(collector.local_test_accuracy()->mean, 0.5);
}

TEST_F(MetricsCollectorTest, ServersLinksAreThoseOfTheLastMeasurement) {
  MetricsCollector collector = Collector(3, /*evaluated_every=*/0, /*servers=*/2);
  EXPECT_FALSE(collector.server_links().has_value());
  for (const Round round : {3, 6}) {
    ASSERT_TRUE(collector.OnNode(0, Report(round, 5)).ok());
    for (const Rank server : {2, 1}) {
      control::NodeMetrics report;
      report.set_round(round);
      report.set_bytes_sent(1000 * round + server);
      report.set_bytes_received(2000 * round + server);
      ASSERT_TRUE(collector.OnNode(server, report).ok());
    }
  }
  ASSERT_TRUE(collector.server_links().has_value());
  EXPECT_THAT(collector.server_links()->bytes_sent, ElementsAre(6001, 6002));
  EXPECT_THAT(collector.server_links()->bytes_received, ElementsAre(12001, 12002));
}

TEST_F(MetricsCollectorTest, BytesThatCannotBeAreRefused) {
  for (const int64_t bytes : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    MetricsCollector collector = Collector(1);
    control::NodeMetrics report = Report(3, 5);
    report.set_bytes_received(bytes);
    EXPECT_THAT(std::string(collector.OnNode(0, report).message()),
                HasSubstr(absl::StrCat("rank 0 reported 300 bytes sent and ", bytes, " received")));
  }
}

// 100 Gbit/s for a month; and nobody's sum overflows.
TEST_F(MetricsCollectorTest, BytesOfALongRunAreCounted) {
  constexpr int64_t kMonth = int64_t{32'400'000'000'000'000}, kMost = int64_t{1} << 60;
  MetricsCollector collector = Collector(9);
  for (Rank rank = 0; rank < 9; ++rank) {
    control::NodeMetrics report = Report(3, 5);
    report.set_bytes_sent(rank == 0 ? kMonth : kMost);
    ASSERT_TRUE(collector.OnNode(rank, report).ok());
  }
  EXPECT_EQ(collector.latest().bytes_sent_total, std::numeric_limits<int64_t>::max());
}

// Alone, the noise of as many is plausible.
TEST_F(MetricsCollectorTest, SamplesThatCannotBeAreRefused) {
  MetricsCollector collector = Collector(2);
  control::NodeMetrics report = Report(3, 5);
  report.set_samples(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(std::string(collector.OnNode(1, report).message()),
              HasSubstr("rank 1 reported round 3 with 9223372036854775807 samples"));
}

TEST_F(MetricsCollectorTest, AWorkersReportWithoutSamplesIsRefused) {
  MetricsCollector collector = Collector(2);
  control::NodeMetrics report;
  report.set_round(3);
  EXPECT_THAT(std::string(collector.OnNode(1, report).message()),
              HasSubstr("rank 1 reported round 3 without any samples"));
}

void SetNoise(double variance, double square, int64_t gradients, control::NodeMetrics* report) {
  control::GradientNoise& noise = *report->mutable_noise();
  noise.set_variance(variance);
  noise.set_square(square);
  noise.set_gradients(gradients);
}

TEST_F(MetricsCollectorTest, NoiseIsOfAllWorkersGradients) {
  MetricsCollector collector = Collector(2);
  for (const auto& [rank, variance] : {std::pair(0, 10.0), std::pair(1, 20.0)}) {
    control::NodeMetrics report = Report(3, 5);
    SetNoise(variance, 1, 1, &report);
    ASSERT_TRUE(collector.OnNode(rank, report).ok());
  }
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_DOUBLE_EQ(*emitted_[0].gradient_variance, 15);
  EXPECT_DOUBLE_EQ(*emitted_[0].gradient_square, 1);
  EXPECT_DOUBLE_EQ(*emitted_[0].noise_scale, 15);
}

TEST_F(MetricsCollectorTest, TheNoiseOfJoinedReportsIsThatOfAllTheirGradients) {
  control::NodeMetrics earlier = Report(3, 5), later = Report(4, 5), silent = Report(5, 5);
  SetNoise(6, 2, 1, &earlier);
  AddEarlier(earlier, &later);
  SetNoise(later.noise().variance() + 8, later.noise().square() + 4, 3, &later);
  AddEarlier(silent, &later);
  MetricsCollector collector = Collector(1);
  ASSERT_TRUE(collector.OnNode(0, later).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_DOUBLE_EQ(*emitted_[0].gradient_square, 2);
  EXPECT_DOUBLE_EQ(*emitted_[0].noise_scale, 14.0 / 6);
}

// Of ten samples, in batches of which at least two make a gradient.
TEST_F(MetricsCollectorTest, ANoiseThatCannotBeIsRefused) {
  const double huge = std::numeric_limits<double>::max();
  const std::tuple<double, double, int64_t> noises[] = {
      {1, 1, -1},        {1, 1, 6},    {1, 1, std::numeric_limits<int64_t>::max()},
      {NAN, 1, 1},       {1, NAN, 1},  {1, INFINITY, 1},
      {-INFINITY, 1, 1}, {huge, 1, 1}, {1, -huge, 1}};
  for (const auto& [variance, square, gradients] : noises) {
    MetricsCollector collector = Collector(2);
    control::NodeMetrics report = Report(3, 5);
    SetNoise(variance, square, gradients, &report);
    EXPECT_THAT(std::string(collector.OnNode(1, report).message()),
                HasSubstr("rank 1 reported a noise that cannot be: "))
        << report.ShortDebugString();
  }
}

TEST_F(MetricsCollectorTest, ANoiseThatNobodyMeasuresIsRefused) {
  MetricsCollector collector = Collector(2, /*evaluated_every=*/0, /*servers=*/1);
  control::NodeMetrics server = Report(3, 5);
  server.set_samples(0);
  SetNoise(1, 1, 1, &server);
  EXPECT_THAT(std::string(collector.OnNode(1, server).message()),
              HasSubstr("rank 1 reported a noise that cannot be: "));
  measures_noise_ = false;
  MetricsCollector silent = Collector(2);
  control::NodeMetrics report = Report(3, 5);
  SetNoise(1, 1, 1, &report);
  EXPECT_THAT(std::string(silent.OnNode(1, report).message()),
              HasSubstr("rank 1 reported a noise that the run does not measure"));
}

control::NodeMetrics ReportOfSteps(Round round, int64_t count, double time_s) {
  control::NodeMetrics report = Report(round, 5);
  report.mutable_steps()->set_count(count);
  report.mutable_steps()->set_time_s(time_s);
  report.mutable_steps()->set_gradient_s(time_s / 2);
  report.mutable_steps()->set_mix_s(time_s / 8);
  report.mutable_steps()->set_wait_s(time_s / 4);
  return report;
}

TEST_F(MetricsCollectorTest, StepsOfAllReportsAddUpByRankEachOnce) {
  MetricsCollector collector = Collector(2);
  EXPECT_TRUE(collector.steps().empty());
  // Round 3 is joined to round 4, as rank 1 has passed it without a report.
  ASSERT_TRUE(collector.OnNode(0, ReportOfSteps(3, 3, 1)).ok());
  ASSERT_TRUE(collector.OnNode(0, ReportOfSteps(4, 1, 2)).ok());
  control::NodeMetrics late = ReportOfSteps(4, 1, 8);
  AddEarlier(ReportOfSteps(3, 3, 16), &late);
  ASSERT_TRUE(collector.OnNode(1, late).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  const std::map<int64_t, StepSums> steps = collector.steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps.at(0).count, 4);
  EXPECT_DOUBLE_EQ(steps.at(0).time_s, 3);
  EXPECT_EQ(steps.at(1).count, 4);
  EXPECT_DOUBLE_EQ(steps.at(1).time_s, 24);
  EXPECT_DOUBLE_EQ(steps.at(1).gradient_s, 12);
  EXPECT_DOUBLE_EQ(steps.at(1).mix_s, 3);
  EXPECT_DOUBLE_EQ(steps.at(1).wait_s, 6);
}

TEST_F(MetricsCollectorTest, StepsThatCannotBeAreRefused) {
  const std::vector<void (*)(control::StepSums*)> spoils = {
      [](control::StepSums* steps) { steps->set_count(-1); },
      [](control::StepSums* steps) { steps->set_count(std::numeric_limits<int64_t>::max()); },
      [](control::StepSums* steps) { steps->set_time_s(std::nan("")); },
      [](control::StepSums* steps) { steps->set_gradient_s(-1); },
      [](control::StepSums* steps) { steps->set_mix_s(HUGE_VAL); },
      [](control::StepSums* steps) { steps->set_wait_s(-HUGE_VAL); }};
  for (const auto spoil : spoils) {
    MetricsCollector collector = Collector(2);
    control::NodeMetrics report = ReportOfSteps(3, 3, 1);
    spoil(report.mutable_steps());
    EXPECT_THAT(std::string(collector.OnNode(1, report).message()),
                HasSubstr("rank 1 reported steps that cannot be"));
  }
}

control::NodeMetrics ReportOfWait(Round round, Rank peer, int64_t time_ns) {
  control::NodeMetrics report = Report(round, 5);
  control::PeerWait& wait = *report.add_waits();
  wait.set_peer(peer);
  wait.set_time_ns(time_ns);
  return report;
}

TEST_F(MetricsCollectorTest, WaitsOfAllReportsAddUpByPeerEachOnce) {
  MetricsCollector collector = Collector(3);
  // Round 3 is joined to round 4, as the others have passed it without a report.
  ASSERT_TRUE(collector.OnNode(0, ReportOfWait(3, 1, 100)).ok());
  ASSERT_TRUE(collector.OnNode(0, ReportOfWait(4, 1, 20)).ok());
  control::NodeMetrics late = ReportOfWait(4, 0, 7);
  AddEarlier(ReportOfWait(3, 2, 50), &late);
  AddEarlier(ReportOfWait(2, 2, 3), &late);
  ASSERT_EQ(late.waits_size(), 2) << "each peer once";
  ASSERT_TRUE(collector.OnNode(1, late).ok());
  ASSERT_TRUE(collector.OnNode(2, Report(4, 5)).ok());
  ASSERT_EQ(emitted_.size(), 1u);
  const std::map<int64_t, AwaitedPeers> waits = collector.waits();
  ASSERT_EQ(waits.at(0).Longest().size(), 1u);
  EXPECT_EQ(waits.at(0).Longest()[0].time.count(), 120);
  ASSERT_EQ(waits.at(1).Longest().size(), 2u);
  EXPECT_EQ(waits.at(1).Longest()[0].peer, 2);
  EXPECT_EQ(waits.at(1).Longest()[0].time.count(), 53);
  EXPECT_EQ(waits.at(1).Longest()[1].time.count(), 7);
}

TEST_F(MetricsCollectorTest, WaitsThatCannotBeAreRefused) {
  const std::vector<std::pair<Rank, int64_t>> impossible = {
      {-1, 5}, {3, 5}, {1, 5}, {std::numeric_limits<Rank>::max(), 5}, {2, -1}};
  for (const auto& [peer, time_ns] : impossible) {
    MetricsCollector collector = Collector(3);
    EXPECT_THAT(std::string(collector.OnNode(1, ReportOfWait(3, peer, time_ns)).message()),
                HasSubstr("rank 1 reported a wait that cannot be"));
  }
  MetricsCollector collector = Collector(3);
  control::NodeMetrics twice = ReportOfWait(3, 2, 5);
  *twice.add_waits() = twice.waits(0);
  EXPECT_THAT(std::string(collector.OnNode(1, twice).message()), HasSubstr("wait that cannot be"));
}

TEST_F(MetricsCollectorTest, TotalsAreThereOnceAllNodesHaveReportedThem) {
  MetricsCollector collector = Collector(2, /*evaluated_every=*/0, /*servers=*/1);
  for (const Rank rank : {1, 0}) {
    EXPECT_TRUE(collector.totals().empty());
    control::NodeMetrics report;
    report.mutable_totals()->set_gradients(10 + rank);
    ASSERT_TRUE(collector.OnNode(rank, report).ok());
  }
  ASSERT_EQ(collector.totals().size(), 2u);
  EXPECT_EQ(collector.totals()[0].gradients, 10);
  EXPECT_EQ(collector.totals()[1].gradients, 11);
}

TEST_F(MetricsCollectorTest, TotalsThatCannotBeAreRefused) {
  const std::vector<void (*)(control::NodeTotals*)> spoils = {
      [](control::NodeTotals* totals) { totals->set_gradients(-1); },
      [](control::NodeTotals* totals) { totals->set_applied(std::numeric_limits<int64_t>::max()); },
      [](control::NodeTotals* totals) { totals->set_staleness_max(-1); },
      [](control::NodeTotals* totals) { totals->set_computing_s(std::nan("")); },
      [](control::NodeTotals* totals) { totals->set_time_s(-1); },
      [](control::NodeTotals* totals) { totals->set_staleness_mean(HUGE_VAL); }};
  for (const auto spoil : spoils) {
    MetricsCollector collector = Collector(2);
    control::NodeMetrics report;
    spoil(report.mutable_totals());
    const absl::Status status = collector.OnNode(1, report);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 reported totals that cannot be"));
  }
}

// Another has measured until round 4, and lost rank 0.
TEST_F(MetricsCollectorTest, GoesOnBehindWhatAnotherHasMeasured) {
  MetricsCollector collector = Collector(3, /*evaluated_every=*/5);
  const RunMetrics measured{.round = 4, .time_s = 8, .bytes_sent_total = 1200};
  collector.TakeOver({&measured, 1}, {{0, 400}, {1, 400}, {2, 400}});
  collector.Lose(0);
  ASSERT_TRUE(collector.OnNode(1, Report(4, 5)).ok()) << "has been measured";
  for (const Round round : {5, 6}) {
    ASSERT_TRUE(collector.OnNode(1, Report(round, 5)).ok());
    ASSERT_TRUE(collector.OnNode(2, Report(round, 5)).ok());
  }
  EXPECT_TRUE(emitted_.empty()) << "the evaluation of round 5 may come";
  collector.NoEvaluationsBefore(6);
  ASSERT_EQ(emitted_.size(), 2u);
  EXPECT_EQ(emitted_[0].round, 5);
  EXPECT_EQ(emitted_[0].bytes_sent_total, 400 + 2 * 500);
  EXPECT_EQ(emitted_[0].living, 2);
}

class MetricsOfNewcomers : public MetricsCollectorTest {
 protected:
  // Of three, of which the last is lost after two rounds.
  void SetUp() override {
    Reports(1, {0, 1, 2});
    Reports(2, {0, 1, 2});
    collector_.Lose(2);
    emitted_.clear();
  }

  void Reports(Round round, const std::vector<Rank>& ranks) {
    for (const Rank rank : ranks) {
      const absl::Status status = collector_.OnNode(rank, Report(round, 5));
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  absl::Status NewcomerReports(Round round, int64_t bytes) {
    control::NodeMetrics report = Report(round, 5);
    report.set_bytes_sent(bytes);
    return collector_.OnNode(2, report);
  }

  MetricsCollector collector_ = Collector(3);
};

TEST_F(MetricsOfNewcomers, RoundsAreCompleteWithoutThemUntilTheyComeIn) {
  Reports(3, {0, 1});
  collector_.TakeIn(2, 5);
  Reports(4, {0, 1});
  Reports(5, {0, 1});
  ASSERT_EQ(emitted_.size(), 3u);
  for (const RunMetrics& metrics : emitted_) EXPECT_EQ(metrics.living, 2) << metrics.round;
  EXPECT_EQ(emitted_.back().bytes_sent_total, 500 + 500 + 200) << "what the lost one has sent, too";
  Reports(6, {0, 1});
  EXPECT_EQ(emitted_.size(), 3u) << "the newcomer does this one";
  ASSERT_TRUE(NewcomerReports(6, 30).ok());
  ASSERT_EQ(emitted_.size(), 4u);
  EXPECT_EQ(emitted_.back().round, 6);
  EXPECT_FALSE(emitted_.back().living.has_value()) << "all are";
  EXPECT_EQ(emitted_.back().bytes_sent_total, 600 + 600 + 200 + 30);
}

TEST_F(MetricsOfNewcomers, WhoCountsOnIsCountedOnce) {
  collector_.TakeIn(2, 4);
  Reports(3, {0, 1});
  ASSERT_TRUE(NewcomerReports(5, 230).ok()) << "before the others have done the rounds until then";
  Reports(4, {0, 1});
  EXPECT_EQ(emitted_.back().round, 4);
  EXPECT_EQ(emitted_.back().bytes_sent_total, 400 + 400 + 200);
  Reports(5, {0, 1});
  EXPECT_EQ(emitted_.back().bytes_sent_total, 500 + 500 + 230);
  collector_.Lose(2);
  collector_.TakeIn(2, 7);
  Reports(6, {0, 1});
  EXPECT_EQ(emitted_.back().bytes_sent_total, 600 + 600 + 230);
  collector_.Lose(2);  // before it has reported anything
  Reports(7, {0, 1});
  EXPECT_EQ(emitted_.back().bytes_sent_total, 700 + 700 + 230);
}

TEST_F(MetricsOfNewcomers, OneThatIsLostAgainIsNotWaitedFor) {
  collector_.TakeIn(2, 3);
  Reports(3, {0, 1});
  Reports(4, {0, 1});
  ASSERT_TRUE(NewcomerReports(4, 30).ok());
  Reports(5, {0, 1});
  EXPECT_EQ(emitted_.size(), 2u);
  collector_.Lose(2);
  ASSERT_EQ(emitted_.size(), 3u);
  EXPECT_EQ(emitted_.back().living, 2);
  EXPECT_EQ(emitted_.back().bytes_sent_total, 500 + 500 + 200 + 30) << "of both its lives";
}

TEST_F(MetricsOfNewcomers, RoundsBeforeTheirFirstAreNotTheirs) {
  collector_.TakeIn(2, 5);
  for (const Round round : {4, 5}) {
    const absl::Status status = NewcomerReports(round, 30);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 2 reported round"));
  }
}

TEST_F(MetricsOfNewcomers, WhoIsThereIsNotTakenInAgain) {
  collector_.TakeIn(1, 9);
  Reports(3, {0});
  EXPECT_TRUE(emitted_.empty());
  Reports(3, {1});
  EXPECT_EQ(emitted_.size(), 1u);
}

}  // namespace
}  // namespace grapevine
