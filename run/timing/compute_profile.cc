#include "run/timing/compute_profile.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "run/text_proto.h"

namespace grapevine {
namespace {

// The number of quantiles in a joined profile, enough to resolve one gradient in a thousand.
constexpr size_t kMaxQuantiles = 1001;
// The largest total accepted, a petabyte or two weeks: sums over many nodes still fit in 64 bits.
constexpr int64_t kMaxInAll = int64_t{1} << 50;
// The bounds of a plausible bandwidth of mixing in bytes per nanosecond, 1 B/s and 1 PB/s. The
// fixed cost of a pass makes mixing slow for a model of a few parameters.
constexpr double kSlowestMix = 1e-9;
constexpr double kFastestMix = 1e6;

absl::Status BadProfile(const std::string& path, std::string_view why) {
  return InputError(path, absl::StrCat("is not a compute profile: ", std::string(why),
                                       "; `grapevine train --profile=FILE` writes one"));
}

absl::Status CheckDevice(const DeviceProfile& device, const std::string& path) {
  const auto& times = device.gradient_ns();
  if (device.device().empty()) return BadProfile(path, "a device has no name");
  if (!std::ranges::is_sorted(times) || (!times.empty() && times[0] < 0)) {
    return BadProfile(path,
                      absl::StrCat("gradient_ns of ", device.device(), " do not ascend from 0 on"));
  }
  const std::optional<double> bandwidth = MixBandwidth(device);
  for (const int64_t sum : {device.gradients(), device.mix_bytes(), device.mix_ns()}) {
    if (sum >= 0 && sum <= kMaxInAll) continue;
    return BadProfile(
        path, absl::StrCat("sums of ", device.device(), " are not within 0 and ", kMaxInAll));
  }
  if (bandwidth && (*bandwidth < kSlowestMix || *bandwidth > kFastestMix)) {
    return BadProfile(path, absl::StrCat("mixing of ", device.device(), " at ", *bandwidth,
                                         " bytes a nanosecond is not plausible"));
  }
  return absl::OkStatus();
}

std::string NamesOf(const ComputeProfile& profile) {
  std::string names;
  for (const DeviceProfile& device : profile.devices()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", device.device());
  }
  return names;
}

absl::StatusOr<DeviceProfile> Choose(const ComputeProfile& profile, const std::string& name,
                                     const std::string& flag) {
  if (name.empty() && profile.devices_size() == 1) return profile.devices(0);
  for (const DeviceProfile& device : profile.devices()) {
    if (device.device() == name) return device;
  }
  return SpecError(flag, absl::StrCat(name.empty() ? "the file has several devices"
                                                   : "the file has no such device",
                                      "; choose one of ", NamesOf(profile), " by :device=NAME"));
}

}  // namespace

std::vector<int64_t> QuantilesOf(std::vector<int64_t> times, size_t most) {
  std::ranges::sort(times);
  if (times.size() <= most) return times;
  std::vector<int64_t> quantiles(most);
  for (size_t i = 0; i < most; ++i) quantiles[i] = times[i * (times.size() - 1) / (most - 1)];
  return quantiles;
}

ComputeProfile JoinProfiles(std::span<const ComputeProfile> parts) {
  std::map<std::string, DeviceProfile> devices;
  for (const ComputeProfile& part : parts) {
    for (const DeviceProfile& from : part.devices()) {
      DeviceProfile& to = devices[from.device()];
      to.set_device(from.device());
      to.set_gradients(to.gradients() + from.gradients());
      to.mutable_gradient_ns()->MergeFrom(from.gradient_ns());
      to.set_mix_bytes(to.mix_bytes() + from.mix_bytes());
      to.set_mix_ns(to.mix_ns() + from.mix_ns());
    }
  }
  ComputeProfile joined;
  for (auto& [name, device] : devices) {
    const std::vector<int64_t> quantiles =
        QuantilesOf({device.gradient_ns().begin(), device.gradient_ns().end()}, kMaxQuantiles);
    device.mutable_gradient_ns()->Assign(quantiles.begin(), quantiles.end());
    *joined.add_devices() = std::move(device);
  }
  return joined;
}

std::string ToText(const ComputeProfile& profile) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(profile, &text);
  return text;
}

absl::StatusOr<ComputeProfile> ReadComputeProfile(const std::string& path) {
  ComputeProfile profile;
  google::protobuf::TextFormat::ParseInfoTree positions;
  RETURN_IF_ERROR(ReadTextProto(path, Failure::kInput, &profile, &positions));
  if (profile.devices().empty()) return BadProfile(path, "it has no devices");
  std::set<std::string> names;
  for (const DeviceProfile& device : profile.devices()) {
    RETURN_IF_ERROR(CheckDevice(device, path));
    if (!names.insert(device.device()).second) {
      return BadProfile(path, absl::StrCat(device.device(), " is there twice"));
    }
  }
  return profile;
}

absl::StatusOr<std::optional<DeviceProfile>> ProfiledDevice(std::string_view compute) {
  constexpr std::string_view kName = "profile", kDevice = ":device=";
  const std::string flag = absl::StrCat("--compute=", std::string(compute));
  if (compute.substr(0, compute.find(':')) != kName) return std::nullopt;
  compute.remove_prefix(std::min(compute.size(), kName.size() + 1));
  // The value is not parsed as a spec, since the name of the file may contain colons.
  const size_t option = compute.rfind(kDevice);
  const std::string path(compute.substr(0, option));
  if (path.empty()) return SpecError(flag, "needs a file: --compute=profile:FILE");
  const std::string name(
      option == std::string_view::npos ? "" : compute.substr(option + kDevice.size()));
  ASSIGN_OR_RETURN(const ComputeProfile profile, ReadComputeProfile(path));
  ASSIGN_OR_RETURN(DeviceProfile device, Choose(profile, name, flag));
  if (device.gradient_ns().empty()) {
    return BadProfile(path, absl::StrCat(device.device(), " has no gradient_ns"));
  }
  return device;
}

std::optional<double> MixBandwidth(const DeviceProfile& device) {
  if (device.mix_bytes() == 0 || device.mix_ns() == 0) return std::nullopt;
  return static_cast<double>(device.mix_bytes()) / static_cast<double>(device.mix_ns());
}

}  // namespace grapevine
