#include "node/telemetry/prometheus_exposition.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "run/records/metrics.h"

namespace grapevine {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Families of samples, all of which have the labels of their source.
class Families {
 public:
  explicit Families(Labels labels) : labels_(std::move(labels)) {}

  void Gauge(std::string_view name, std::string_view help, std::optional<double> value,
             Labels more = {}) {
    if (!value) return;
    Sample(name, help, MetricType::Gauge, std::move(more)).gauge.value = *value;
  }
  void Counter(std::string_view name, std::string_view help, double value, Labels more = {}) {
    Sample(name, help, MetricType::Counter, std::move(more)).counter.value = value;
  }
  ClientMetric::Histogram& Histogram(std::string_view name, std::string_view help) {
    return Sample(name, help, MetricType::Histogram).histogram;
  }

  // Moves the families to the end of `all`.
  void MoveTo(std::vector<MetricFamily>* all) {
    for (MetricFamily& family : families_) all->push_back(std::move(family));
  }

 private:
  // Adds a sample to the last family, or to a new one if the last has another name.
  ClientMetric& Sample(std::string_view name, std::string_view help, MetricType type,
                       Labels more = {}) {
    std::string full = absl::StrCat("grapevine_", std::string(name));
    if (families_.empty() || families_.back().name != full) {
      families_.push_back({.name = std::move(full), .help = std::string(help), .type = type});
    }
    ClientMetric& sample = families_.back().metric.emplace_back();
    sample.label = labels_;
    sample.label.insert(sample.label.end(), more.begin(), more.end());
    return sample;
  }

  const Labels labels_;
  std::vector<MetricFamily> families_;
};

Labels Peer(Rank peer) { return {{"peer", absl::StrCat(peer)}}; }

// Fills a histogram of durations. Its last bucket, up to infinity, follows from the count.
void Fill(const RoundDurations& durations, ClientMetric::Histogram* histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i < durations.kBounds.size(); ++i) {
    count += static_cast<uint64_t>(durations.counts[i]);
    histogram->bucket.push_back({count, durations.kBounds[i]});
  }
  histogram->sample_count = count + static_cast<uint64_t>(durations.counts.back());
  histogram->sample_sum = std::chrono::duration<double>(durations.sum).count();
}

// The number of buckets for staleness, up to 32767. It is constant, so that series do not come and
// go.
constexpr size_t kStalenessBuckets = 16;

// Fills a histogram of staleness; element b > 0 of `staleness` counts the values from 2^(b-1) to
// 2^b - 1.
void Fill(const std::vector<int64_t>& staleness, double mean, ClientMetric::Histogram* histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i < std::max(staleness.size(), kStalenessBuckets); ++i) {
    if (i < staleness.size()) count += static_cast<uint64_t>(staleness[i]);
    if (i >= kStalenessBuckets) continue;
    histogram->bucket.push_back({count, static_cast<double>((uint64_t{1} << i) - 1)});
  }
  histogram->sample_count = count;
  histogram->sample_sum = mean * static_cast<double>(count);
}

void AddLine(const NodeFigures& figures, Families* families) {
  families->Counter("samples_total", "Samples of which the node has computed gradients.",
                    static_cast<double>(figures.samples));
  families->Counter("gradient_seconds_total", "Time in which gradients were computed.",
                    figures.gradient_s);
  families->Counter("mix_seconds_total", "Time of mixing replicas and of steps.", figures.mix_s);
  families->Counter("wait_seconds_total", "Time in which the node only waited for others.",
                    figures.wait_s);
  if (!figures.line) return;
  const NodeMetrics& line = *figures.line;
  families->Gauge("epoch", "Samples seen by all nodes over the size of the data set.", line.epoch);
  families->Gauge("learning_rate", "Learning rate of the last step.", line.learning_rate);
  families->Gauge("training_loss", "Mean loss of the node's batches since its line before.",
                  line.train_loss);
  if (!line.staleness) return;
  Fill(*line.staleness, line.staleness_mean.value_or(0),
       &families->Histogram("staleness_steps",
                            "Updates that the model had had since a gradient's replica, of the "
                            "gradients that the node has applied."));
}

void AddPeers(const NodeFigures& figures, Families* families) {
  for (const auto& [peer, connected] : figures.connected) {
    families->Gauge("peer_up", "Whether the node is connected to this neighbour, to send to it.",
                    connected ? 1 : 0, Peer(peer));
  }
  std::map<Rank, bool> awaited = figures.connected;
  for (auto& [peer, waits] : awaited) waits = false;
  for (const Rank peer : figures.awaited) awaited[peer] = true;
  for (const auto& [peer, waits] : awaited) {
    families->Gauge("peer_awaited", "Whether the node can do nothing until this neighbour does.",
                    waits ? 1 : 0, Peer(peer));
  }
  for (const auto& [peer, connected] : figures.connected) {
    const auto waited = figures.waited.find(peer);
    const std::chrono::duration<double> seconds =
        waited == figures.waited.end() ? std::chrono::nanoseconds(0) : waited->second;
    families->Counter("peer_wait_seconds_total",
                      "Time in which the node only waited, of rounds in which this neighbour came "
                      "last.",
                      seconds.count(), Peer(peer));
  }
}

Families OfNode(const NodeDescription& node, const NodeFigures& figures) {
  Families families({{"rank", absl::StrCat(node.rank)}});
  families.Gauge(
      "run_info", "Settings of the run.", 1,
      {{"topology", node.topology}, {"algorithm", node.algorithm}, {"model", node.model}});
  families.Gauge("ready", "Whether the node is in the run, as /readyz says.",
                 figures.ready ? 1 : 0);
  if (node.rounds) {
    families.Gauge("planned_rounds", "Rounds that the run is to have.",
                   static_cast<double>(*node.rounds));
  }
  families.Gauge("planned_nodes", "Nodes with which the run was begun.", node.nodes);
  families.Gauge("round",
                 "Rounds that the node has completed; steps of its own where nodes share a budget.",
                 static_cast<double>(figures.round));
  Fill(figures.durations, &families.Histogram("round_duration_seconds",
                                              "Time of a round, from boundary to boundary."));
  families.Counter("sent_bytes_total", "Payload of the algorithm's messages of completed rounds.",
                   static_cast<double>(figures.bytes_sent));
  families.Counter("received_bytes_total", "Likewise, that the node has received.",
                   static_cast<double>(figures.bytes_received));
  AddLine(figures, &families);
  AddPeers(figures, &families);
  if (!figures.checkpoint) return families;
  families.Gauge("checkpoint_round", "Round of the run's last complete checkpoint.",
                 static_cast<double>(figures.checkpoint->round));
  families.Gauge("checkpoint_age_seconds",
                 "Time since it was complete, or since this process is in the run.",
                 figures.checkpoint->age_s);
  return families;
}

Families OfRun(const RunFigures& run) {
  Families families({});
  const RunMetrics& latest = run.latest;
  families.Gauge("living_nodes", "Nodes that are not lost.", run.living);
  families.Gauge("consensus_distance", "Mean of |x_i - mean x|^2 over the workers' parameters.",
                 latest.consensus_distance);
  families.Gauge("run_training_loss", "Mean loss of all workers' batches at the last measurement.",
                 latest.train_loss);
  families.Gauge("test_loss", "Loss of the averaged model on the test set.", latest.test_loss);
  families.Gauge("test_accuracy_ratio", "Accuracy of the averaged model on the test set.",
                 latest.test_accuracy);
  return families;
}

}  // namespace

std::string Exposition(const NodeDescription& node, const NodeFigures& figures) {
  std::vector<MetricFamily> all;
  Families build({{"version", node.version}, {"revision", node.revision}});
  build.Gauge("build_info", "What runs here.", 1);
  build.MoveTo(&all);
  OfNode(node, figures).MoveTo(&all);
  if (figures.run) OfRun(*figures.run).MoveTo(&all);
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace grapevine
