#include "cli/simulated_cluster.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "run/config_field.h"
#include "run/failure.h"
#include "run/units.h"
#include "sim/nic_network.h"

namespace grapevine {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kNanosecondsPerSecond = 1e9;

// Of a resolved configuration, whose texts are canonical.
double BytesPerNanosecond(const std::string& bandwidth) {
  return static_cast<double>(ParseBandwidth(bandwidth).value()) /
         (kBitsPerByte * kNanosecondsPerSecond);
}

absl::Status UsageError(const std::string& message) {
  return WithFailure(absl::InvalidArgumentError(message), Failure::kUsage);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SimulatedCluster>> SimulatedCluster::Make(const Config& config) {
  std::unique_ptr<SimulatedCluster> cluster(new SimulatedCluster);
  cluster->options_.nodes = config.nodes();
  cluster->options_.message_overhead = ResolvedDuration(config.message_overhead()).count();
  const double memory = BytesPerNanosecond(config.memory_bandwidth());
  cluster->options_.memory_bandwidth =
      memory > 0 ? memory : std::numeric_limits<double>::infinity();

  const NicOptions nic{.bandwidth = BytesPerNanosecond(config.bandwidth()),
                       .latency = ResolvedDuration(config.latency()).count(),
                       .half_duplex = config.half_duplex()};
  if (nic.bandwidth <= 0) return UsageError("--bandwidth=0bit: must be positive");
  cluster->make_network_ = [nodes = config.nodes(), nic](AlarmClock* clock) {
    return std::make_unique<NicNetwork>(nodes, nic, clock);
  };
  return cluster;
}

}  // namespace grapevine
