#include "run/records/metrics.h"

#include "run/records/json_record.h"

namespace grapevine {
namespace {

constexpr auto kRunMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("time_s", record.time_s);
  visit("train_loss", record.train_loss);
  visit("learning_rate", record.learning_rate);
  visit("test_loss", record.test_loss);
  visit("test_accuracy", record.test_accuracy);
  visit("test_loss_recalibrated", record.test_loss_recalibrated);
  visit("test_accuracy_recalibrated", record.test_accuracy_recalibrated);
  visit("consensus_distance", record.consensus_distance);
  visit("buffer_distance", record.buffer_distance);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("evaluation_bytes_sent_total", record.evaluation_bytes_sent_total);
  visit("samples_per_s", record.samples_per_s);
};

constexpr auto kNodeMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("time_s", record.time_s);
  visit("train_loss", record.train_loss);
  visit("learning_rate", record.learning_rate);
  visit("gradient_s", record.gradient_s);
  visit("mix_s", record.mix_s);
  visit("wait_s", record.wait_s);
  visit("samples_per_s", record.samples_per_s);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("bytes_received_total", record.bytes_received_total);
  visit("resident_bytes", record.resident_bytes);
};

}  // namespace

void Remember(const RunMetrics& metrics, RunMetrics* latest) {
  latest->round = metrics.round;
  latest->epoch = metrics.epoch;
  latest->time_s = metrics.time_s;
  const auto update = [&](auto... members) {
    ((metrics.*members ? void(latest->*members = metrics.*members) : void()), ...);
  };
  update(&RunMetrics::train_loss, &RunMetrics::learning_rate, &RunMetrics::test_loss,
         &RunMetrics::test_accuracy, &RunMetrics::test_loss_recalibrated,
         &RunMetrics::test_accuracy_recalibrated, &RunMetrics::consensus_distance,
         &RunMetrics::buffer_distance, &RunMetrics::bytes_sent_total,
         &RunMetrics::evaluation_bytes_sent_total, &RunMetrics::samples_per_s);
}

std::string ToJsonLine(const RunMetrics& metrics) { return Dump(ToJson(metrics, kRunMembers)); }

std::string ToJsonLine(const NodeMetrics& metrics) { return Dump(ToJson(metrics, kNodeMembers)); }

absl::StatusOr<RunMetrics> RunMetricsFromJson(std::string_view line) {
  return FromJsonText<RunMetrics>(line, kRunMembers);
}

absl::StatusOr<NodeMetrics> NodeMetricsFromJson(std::string_view line) {
  return FromJsonText<NodeMetrics>(line, kNodeMembers);
}

}  // namespace grapevine
