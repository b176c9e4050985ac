// Files of measured compute times (run/timing/compute_profile.proto): joining what the nodes of a
// run measured, writing, reading.
//
// Pure functions except for file access; safe from any thread.
#ifndef GRAPEVINE_RUN_TIMING_COMPUTE_PROFILE_H_
#define GRAPEVINE_RUN_TIMING_COMPUTE_PROFILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "run/timing/compute_profile.pb.h"

namespace grapevine {

// Returns at most `most` quantiles of `times` at equal steps, including the shortest and the
// longest time. `times` may be unsorted; `most` is at least 2.
std::vector<int64_t> QuantilesOf(std::vector<int64_t> times, size_t most);

// Joins the profiles that the nodes measured into one profile per device.
ComputeProfile JoinProfiles(std::span<const ComputeProfile> parts);

// Returns the profile as a textproto.
std::string ToText(const ComputeProfile& profile);

// Reads a profile and checks it: names are unique, times ascend. Errors are kInput and begin with
// the path.
absl::StatusOr<ComputeProfile> ReadComputeProfile(const std::string& path);

// Reads the device that "profile:FILE[:device=NAME]", a value of --compute, names; without a name,
// the file's only one. Absent for other values. Errors are kInput and name the file, or kUsage and
// begin with "--compute=SPEC".
absl::StatusOr<std::optional<DeviceProfile>> ProfiledDevice(std::string_view compute);

// Returns the bytes per nanosecond that mixing reads and writes; absent if they were not measured.
std::optional<double> MixBandwidth(const DeviceProfile& device);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TIMING_COMPUTE_PROFILE_H_
