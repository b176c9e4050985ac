#include "experiment/simulated/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/objective.h"
#include "run/config/config_field.h"
#include "run/config/resolved_config.h"
#include "run/timing/compute_profile.h"
#include "sim/network/tcp_effects.h"

namespace grapevine {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kNanosecondsPerSecond = 1e9;

// `bandwidth` is from a resolved configuration, and so canonical.
double BytesPerNanosecond(const std::string& bandwidth) {
  return static_cast<double>(ParseBandwidth(bandwidth).value()) /
         (kBitsPerByte * kNanosecondsPerSecond);
}

NetworkRequest Request(const Config& config) {
  NetworkRequest request{.network = config.network(),
                         .model = config.network_model(),
                         .half_duplex = config.half_duplex(),
                         .placement = config.placement(),
                         .nodes = config.nodes(),
                         .seed = config.seed()};
  if (config.has_bandwidth()) request.bandwidth = ParseBandwidth(config.bandwidth()).value();
  if (config.has_latency()) request.latency = ResolvedDuration(config.latency()).count();
  return request;
}

// Puts the flag in front of an error that begins with the flag's value.
absl::Status NamingFlagOf(const NetworkRequest& request, const absl::Status& status) {
  const std::pair<std::string_view, std::string> values[] = {{"--network", request.network},
                                                             {"--network-model", request.model},
                                                             {"--placement", request.placement}};
  for (const auto& [flag, value] : values) {
    if (absl::StartsWith(status.message(), absl::StrCat(value, ": "))) {
      return NamingFlag(flag, value, status);
    }
  }
  return status;
}

// Returns the rate of a single message between any two hosts, in bytes per nanosecond.
double NarrowestLink(const Platform& platform) {
  double narrowest = platform.loopback();
  for (const Link& link : platform.links()) narrowest = std::min(narrowest, link.capacity);
  return narrowest;
}

// Refuses effects that packets model themselves: they have windows and losses of their own.
absl::Status CheckEffects(const Config& config, const NetworkPlan& plan) {
  const char* const flag = config.loss() > 0     ? "--loss"
                           : config.slow_start() ? "--slow-start"
                                                 : nullptr;
  if (flag == nullptr || !plan.has_packets()) return absl::OkStatus();
  return UsageError(
      absl::StrCat(flag, ": not with --network-model=", config.network_model(),
                   ", which has windows and losses of its own; leave one of them out"));
}

constexpr int kWarmUps = 2;
constexpr int kGradients = 9;

}  // namespace

absl::StatusOr<std::unique_ptr<SimulatedCluster>> SimulatedCluster::Make(const Config& config) {
  std::unique_ptr<SimulatedCluster> cluster(new SimulatedCluster);
  cluster->options_.nodes = config.nodes();
  cluster->options_.message_overhead = ResolvedDuration(config.message_overhead()).count();
  cluster->options_.start_spread = ResolvedDuration(config.start_spread()).count();
  cluster->options_.seed = config.seed();
  const double memory = BytesPerNanosecond(config.memory_bandwidth());
  cluster->options_.memory_bandwidth =
      memory > 0 ? memory : std::numeric_limits<double>::infinity();

  const NetworkRequest network = Request(config);
  absl::StatusOr<NetworkPlan> plan = MakeNetworkPlan(network);
  if (!plan.ok()) return NamingFlagOf(network, plan.status());
  cluster->plan_ = *std::move(plan);
  RETURN_IF_ERROR(CheckEffects(config, *cluster->plan_));
  ASSIGN_OR_RETURN(cluster->effects_,
                   MakeMessageEffects(config, NarrowestLink(cluster->plan_->platform())));
  return cluster;
}

SimulationOptions SimulatedCluster::options(const Experiment& experiment) const {
  SimulationOptions options = options_;
  options.max_norm = experiment.max_norm();
  if (WaitsForOthers(experiment.config())) {
    options.least = LeastNodes(experiment.config()).value_or(0);
    options.patience = ResolvedDuration(experiment.config().rendezvous_timeout()).count();
  }
  if (experiment.has_rounds()) return options;
  options.sharing = experiment.workers();
  options.window = StepsBetweenExchanges(experiment.config().algorithm());
  return options;
}

absl::StatusOr<std::chrono::nanoseconds> MeasureGradient(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<Objective>> objective,
                   experiment.problem().MakeObjectives(0, 1, {}));
  const SharedVector replica = NewSharedVector(experiment.layout().size);
  const SharedVector gradient = NewSharedVector(experiment.layout().size);
  RETURN_IF_ERROR(experiment.Initialize(replica.data.get()));
  std::vector<std::chrono::nanoseconds> times;
  for (int i = 0; i < kWarmUps + kGradients; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(
        objective.front()->Gradient(replica.data.get(), i, gradient.data.get()).status());
    if (i >= kWarmUps) times.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::ranges::nth_element(times, times.begin() + kGradients / 2);
  return std::chrono::nanoseconds(ThreeDigits(times[kGradients / 2].count()));
}

absl::StatusOr<std::optional<std::string>> MeasuredMemoryBandwidth(const Config& config) {
  if (!config.has_compute()) return std::nullopt;
  ASSIGN_OR_RETURN(const auto device, ProfiledDevice(config.compute()));
  const std::optional<double> bandwidth = device ? MixBandwidth(*device) : std::nullopt;
  if (!bandwidth) return std::nullopt;
  constexpr double kBitsPerSecond = 8e9;  // in a byte per nanosecond
  return FormatBandwidth(ThreeDigits(std::llround(*bandwidth * kBitsPerSecond)));
}

}  // namespace grapevine
