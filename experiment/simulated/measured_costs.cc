#include "experiment/simulated/measured_costs.h"

#include <cmath>

#include "base/status_macros.h"
#include "base/units.h"
#include "run/timing/compute_profile.h"

namespace grapevine {

absl::StatusOr<std::optional<std::string>> MeasuredMemoryBandwidth(const Config& config) {
  if (!config.has_compute()) return std::nullopt;
  ASSIGN_OR_RETURN(const auto device, ProfiledDevice(config.compute()));
  const std::optional<double> bandwidth = device ? MixBandwidth(*device) : std::nullopt;
  if (!bandwidth) return std::nullopt;
  constexpr double kBitsPerSecond = 8e9;  // in a byte per nanosecond
  return FormatBandwidth(ThreeDigits(std::llround(*bandwidth * kBitsPerSecond)));
}

}  // namespace grapevine
