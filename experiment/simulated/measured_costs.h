// What a simulation charges for mixing where the configuration leaves it open.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_MEASURED_COSTS_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_MEASURED_COSTS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The memory bandwidth, as a value of --memory-bandwidth, that was measured together with
// --compute: mixing takes that time unless it is given. Absent if --compute is no profile that
// has it. Errors as ProfiledDevice's (run/timing/compute_profile.h).
absl::StatusOr<std::optional<std::string>> MeasuredMemoryBandwidth(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_MEASURED_COSTS_H_
