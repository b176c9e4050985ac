#include "run/records/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/status.h"
#include "run/records/json_record.h"

namespace grapevine {
namespace {

constexpr auto kRunMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("time_s", record.time_s);
  visit("train_loss", record.train_loss);
  visit("learning_rate", record.learning_rate);
  visit("gradient_variance", record.gradient_variance);
  visit("gradient_square", record.gradient_square);
  visit("noise_scale", record.noise_scale);
  visit("test_loss", record.test_loss);
  visit("test_accuracy", record.test_accuracy);
  visit("test_loss_recalibrated", record.test_loss_recalibrated);
  visit("test_accuracy_recalibrated", record.test_accuracy_recalibrated);
  visit("test_samples", record.test_samples);
  visit("consensus_distance", record.consensus_distance);
  visit("buffer_distance", record.buffer_distance);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("evaluation_bytes_sent_total", record.evaluation_bytes_sent_total);
  visit("samples_per_s", record.samples_per_s);
  visit("living", record.living);
};

constexpr auto kNodeMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("time_s", record.time_s);
  visit("train_loss", record.train_loss);
  visit("learning_rate", record.learning_rate);
  visit("gradient_variance", record.gradient_variance);
  visit("gradient_square", record.gradient_square);
  visit("noise_scale", record.noise_scale);
  visit("gradient_s", record.gradient_s);
  visit("mix_s", record.mix_s);
  visit("wait_s", record.wait_s);
  visit("samples_per_s", record.samples_per_s);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("bytes_received_total", record.bytes_received_total);
  visit("gradients_total", record.gradients_total);
  visit("idle_s", record.idle_s);
  visit("staleness_mean", record.staleness_mean);
  visit("staleness_max", record.staleness_max);
  visit("staleness", record.staleness);
};

constexpr char kWaitedFor[] = "waited_for";
constexpr char kNorms[] = "norms";

constexpr auto kNormsMembers = [](auto& record, auto&& visit) {
  visit("tensor", record.tensor);
  visit("dimensions", record.dimensions);
  visit("weights", record.weights);
  visit("gradient", record.gradient);
};

constexpr char kLocal[] = "local_test_accuracy";
constexpr char kGradients[] = "gradients";
constexpr char kIdle[] = "idle_s";
constexpr char kSteps[] = "steps";
constexpr char kSlowestNode[] = "slowest_node";
constexpr char kLongestWaits[] = "longest_waits";
constexpr char kMembership[] = "membership";
constexpr char kBatchGrowth[] = "batch_growth";
constexpr char kServerLinks[] = "server_links";
constexpr char kTarget[] = "target";

constexpr auto kServerLinksMembers = [](auto& record, auto&& visit) {
  visit("bytes_sent", record.bytes_sent);
  visit("bytes_received", record.bytes_received);
};

constexpr auto kStepMeansMembers = [](auto& record, auto&& visit) {
  visit("count", record.count);
  visit("mean_s", record.mean_s);
  visit("gradient_s", record.gradient_s);
  visit("mix_s", record.mix_s);
  visit("wait_s", record.wait_s);
};

constexpr auto kSlowestNodeMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  kStepMeansMembers(record.steps, visit);
};

constexpr auto kPeerWaitMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  visit("peer", record.peer);
  visit("seconds", record.seconds);
};

constexpr auto kMembershipMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("lost", record.lost);
  visit("joined", record.joined);
};

constexpr auto kBatchGrowthMembers = [](auto& record, auto&& visit) {
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("batch", record.batch);
};

constexpr auto kTargetMembers = [](auto& record, auto&& visit) {
  visit("accuracy", record.accuracy);
  visit("met", record.met);
  visit("round", record.round);
  visit("epoch", record.epoch);
  visit("time_s", record.time_s);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("test_accuracy", record.test_accuracy);
};

constexpr auto kSummaryMembers = [](auto& record, auto&& visit) {
  visit("nodes", record.nodes);
  visit("workers", record.workers);
  visit("topology", record.topology);
  visit("mixing", record.mixing);
  visit("algorithm", record.algorithm);
  visit("model", record.model);
  visit("evaluated", record.evaluated);
  visit("data", record.data);
  visit("seed", record.seed);
  visit("rounds", record.rounds);
  visit("epochs", record.epochs);
  visit("stopped", record.stopped);
  visit("wall_time_s", record.wall_time_s);
  visit("simulated_time_s", record.simulated_time_s);
  visit("bytes_sent_total", record.bytes_sent_total);
  visit("evaluation_bytes_sent_total", record.evaluation_bytes_sent_total);
  visit("samples_per_s", record.samples_per_s);
  visit("living", record.living);
  visit("train_loss", record.train_loss);
  visit("gradient_variance", record.gradient_variance);
  visit("gradient_square", record.gradient_square);
  visit("noise_scale", record.noise_scale);
  visit("test_loss", record.test_loss);
  visit("test_accuracy", record.test_accuracy);
  visit("test_loss_recalibrated", record.test_loss_recalibrated);
  visit("test_accuracy_recalibrated", record.test_accuracy_recalibrated);
  visit("consensus_distance", record.consensus_distance);
  visit("buffer_distance", record.buffer_distance);
  visit("staleness_mean", record.staleness_mean);
  visit("staleness_max", record.staleness_max);
};

absl::Status InMember(const char* name, const absl::Status& why) {
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\": ", std::string(why.message())));
}

// Reads the object under `name` into `record`, if the member is present.
template <typename Record, typename Members>
absl::Status ReadMember(const nlohmann::json& json, const char* name, const Members& members,
                        std::optional<Record>* record) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return absl::OkStatus();
  const absl::StatusOr<Record> read = FromJson<Record>(*found, members);
  if (!read.ok()) return InMember(name, read.status());
  *record = *read;
  return absl::OkStatus();
}

// Returns a list with one object for each tensor, except tensors whose norms are not finite.
nlohmann::ordered_json NormsToJson(const std::vector<TensorNorms>& norms) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TensorNorms& tensor : norms) {
    if (!std::isfinite(tensor.weights) || !std::isfinite(tensor.gradient)) continue;
    list.push_back(ToJson(tensor, kNormsMembers));
  }
  return list;
}

template <typename Record, typename Members>
nlohmann::ordered_json ListToJson(const std::vector<Record>& records, const Members& members) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Record& record : records) list.push_back(ToJson(record, members));
  return list;
}

// The longest list accepted: far more than a network has tensors or a node has neighbours.
constexpr size_t kMaxRecords = 1 << 16;

template <typename Record, typename Members>
absl::StatusOr<std::vector<Record>> ListFromJson(const nlohmann::json& list,
                                                 const Members& members) {
  std::vector<Record> records;
  if (!list.is_array() || list.size() > kMaxRecords) {
    return absl::InvalidArgumentError("is no list of objects");
  }
  for (const nlohmann::json& entry : list) {
    ASSIGN_OR_RETURN(Record record, FromJson<Record>(entry, members));
    records.push_back(std::move(record));
  }
  return records;
}

// Reads the list of objects under `name` into `records`, if the member is present.
template <typename Record, typename Members>
absl::Status ReadList(const nlohmann::json& json, const char* name, const Members& members,
                      std::optional<std::vector<Record>>* records) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return absl::OkStatus();
  absl::StatusOr<std::vector<Record>> read = ListFromJson<Record>(*found, members);
  if (!read.ok()) return InMember(name, read.status());
  *records = *std::move(read);
  return absl::OkStatus();
}

}  // namespace

void Remember(const RunMetrics& metrics, RunMetrics* latest) {
  latest->round = metrics.round;
  latest->epoch = metrics.epoch;
  latest->time_s = metrics.time_s;
  const auto update = [&](auto... members) {
    ((metrics.*members ? void(latest->*members = metrics.*members) : void()), ...);
  };
  update(&RunMetrics::train_loss, &RunMetrics::learning_rate, &RunMetrics::gradient_variance,
         &RunMetrics::gradient_square, &RunMetrics::noise_scale, &RunMetrics::test_loss,
         &RunMetrics::test_accuracy, &RunMetrics::test_loss_recalibrated,
         &RunMetrics::test_accuracy_recalibrated, &RunMetrics::consensus_distance,
         &RunMetrics::buffer_distance, &RunMetrics::bytes_sent_total,
         &RunMetrics::evaluation_bytes_sent_total, &RunMetrics::samples_per_s, &RunMetrics::living);
  // An absent value is a measurement, too: the evaluation used all samples.
  if (metrics.test_loss) latest->test_samples = metrics.test_samples;
}

std::string ToJsonLine(const RunMetrics& metrics) { return Dump(ToJson(metrics, kRunMembers)); }

std::string ToJsonLine(const NodeMetrics& metrics) {
  nlohmann::ordered_json json = ToJson(metrics, kNodeMembers);
  if (metrics.waited_for) json[kWaitedFor] = ListToJson(*metrics.waited_for, kWaitedForMembers);
  if (!metrics.norms.empty()) json[kNorms] = NormsToJson(metrics.norms);
  return Dump(json);
}

std::vector<NamedNumber> NumbersOf(const RunMetrics& metrics) {
  const nlohmann::ordered_json line = ToJson(metrics, kRunMembers);
  std::vector<NamedNumber> numbers;
  kRunMembers(metrics, [&](const char* name, const auto&) {
    const auto found = line.find(name);
    numbers.push_back({name, found == line.end() ? "" : Dump(*found)});
  });
  return numbers;
}

absl::StatusOr<RunMetrics> RunMetricsFromJson(std::string_view line) {
  return FromJsonText<RunMetrics>(line, kRunMembers);
}

absl::StatusOr<NodeMetrics> NodeMetricsFromJson(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not valid JSON");
  ASSIGN_OR_RETURN(NodeMetrics metrics, FromJson<NodeMetrics>(json, kNodeMembers));
  RETURN_IF_ERROR(ReadList(json, kWaitedFor, kWaitedForMembers, &metrics.waited_for));
  std::optional<std::vector<TensorNorms>> norms;
  RETURN_IF_ERROR(ReadList(json, kNorms, kNormsMembers, &norms));
  if (norms) metrics.norms = *std::move(norms);
  return metrics;
}

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread{.min = values.front(), .mean = 0, .max = values.front()};
  for (const double value : values) {
    spread.min = std::min(spread.min, value);
    spread.max = std::max(spread.max, value);
    spread.mean += value / static_cast<double>(values.size());
  }
  return spread;
}

std::string ToJsonText(const Summary& summary) {
  nlohmann::ordered_json json = ToJson(summary, kSummaryMembers);
  if (summary.local_test_accuracy) {
    json[kLocal] = ToJson(*summary.local_test_accuracy, kSpreadMembers);
  }
  if (summary.gradients) json[kGradients] = ToJson(*summary.gradients, kSpreadMembers);
  if (summary.idle_s) json[kIdle] = ToJson(*summary.idle_s, kSpreadMembers);
  if (summary.steps) json[kSteps] = ToJson(*summary.steps, kStepMeansMembers);
  if (summary.slowest_node) {
    json[kSlowestNode] = ToJson(*summary.slowest_node, kSlowestNodeMembers);
  }
  if (summary.longest_waits) {
    json[kLongestWaits] = ListToJson(*summary.longest_waits, kPeerWaitMembers);
  }
  if (summary.server_links) {
    json[kServerLinks] = ToJson(*summary.server_links, kServerLinksMembers);
  }
  if (summary.membership) {
    json[kMembership] = ListToJson(*summary.membership, kMembershipMembers);
  }
  if (summary.batch_growth) {
    json[kBatchGrowth] = ToJson(*summary.batch_growth, kBatchGrowthMembers);
  }
  if (summary.target) json[kTarget] = ToJson(*summary.target, kTargetMembers);
  return Dump(json, 2) + "\n";
}

absl::StatusOr<Summary> SummaryFromJson(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not valid JSON");
  ASSIGN_OR_RETURN(Summary summary, FromJson<Summary>(json, kSummaryMembers));
  absl::Status status = ReadMember(json, kLocal, kSpreadMembers, &summary.local_test_accuracy);
  status.Update(ReadMember(json, kGradients, kSpreadMembers, &summary.gradients));
  status.Update(ReadMember(json, kIdle, kSpreadMembers, &summary.idle_s));
  status.Update(ReadMember(json, kSteps, kStepMeansMembers, &summary.steps));
  status.Update(ReadMember(json, kSlowestNode, kSlowestNodeMembers, &summary.slowest_node));
  status.Update(ReadList(json, kLongestWaits, kPeerWaitMembers, &summary.longest_waits));
  status.Update(ReadMember(json, kServerLinks, kServerLinksMembers, &summary.server_links));
  status.Update(ReadList(json, kMembership, kMembershipMembers, &summary.membership));
  status.Update(ReadMember(json, kBatchGrowth, kBatchGrowthMembers, &summary.batch_growth));
  status.Update(ReadMember(json, kTarget, kTargetMembers, &summary.target));
  RETURN_IF_ERROR(status);
  return summary;
}

}  // namespace grapevine
