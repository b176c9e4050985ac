#include "run/compute_profile.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "run/failure.h"
#include "run/text_proto.h"
#include "topology/spec.h"

namespace grapevine {
namespace {

// Enough to tell one gradient in a thousand.
constexpr size_t kMostQuantiles = 1001;

absl::Status BadProfile(const std::string& path, std::string_view why) {
  return WithFailure(
      absl::InvalidArgumentError(absl::StrCat(path, ": is no compute profile: ", std::string(why),
                                              "; `grapevine train --profile=FILE` writes one")),
      Failure::kInput);
}

absl::Status CheckDevice(const DeviceProfile& device, const std::string& path) {
  const auto& times = device.gradient_ns();
  if (device.device().empty()) return BadProfile(path, "a device has no name");
  if (!std::ranges::is_sorted(times) || (!times.empty() && times[0] < 0)) {
    return BadProfile(path, absl::StrCat("gradient_ns of ", device.device(),
                                         " do not ascend from 0 on"));
  }
  if (device.mix_bytes() < 0 || device.mix_ns() < 0) {
    return BadProfile(path, absl::StrCat("mixing of ", device.device(), " is negative"));
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
                                     const Spec& spec) {
  if (name.empty() && profile.devices_size() == 1) return profile.devices(0);
  for (const DeviceProfile& device : profile.devices()) {
    if (device.device() == name) return device;
  }
  return SpecError(spec.text, absl::StrCat(name.empty() ? "it has several devices, choose with device="
                                                      : "it has no such device, but ",
                                         NamesOf(profile)));
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
        QuantilesOf({device.gradient_ns().begin(), device.gradient_ns().end()}, kMostQuantiles);
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
  absl::Status read = ReadTextProto(path, Failure::kInput, &profile, &positions);
  if (!read.ok()) return read;
  if (profile.devices().empty()) return BadProfile(path, "it has no devices");
  std::set<std::string> names;
  for (const DeviceProfile& device : profile.devices()) {
    if (absl::Status status = CheckDevice(device, path); !status.ok()) return status;
    if (!names.insert(device.device()).second) {
      return BadProfile(path, absl::StrCat(device.device(), " is there twice"));
    }
  }
  return profile;
}

absl::StatusOr<std::optional<DeviceProfile>> ProfiledDevice(std::string_view compute) {
  absl::StatusOr<Spec> spec = ParseSpec(compute);
  if (!spec.ok()) return SpecError("--compute", std::string(spec.status().message()));
  if (spec->name != "profile") return std::nullopt;
  spec->text = absl::StrCat("--compute=", spec->text);  // what errors quote
  SpecReader reader(*spec);
  const std::string path = reader.Argument();
  const std::string name = reader.Text("device", "");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  if (path.empty()) return SpecError(spec->text, "needs a file: --compute=profile:FILE");
  const absl::StatusOr<ComputeProfile> profile = ReadComputeProfile(path);
  if (!profile.ok()) return profile.status();
  absl::StatusOr<DeviceProfile> device = Choose(*profile, name, *spec);
  if (!device.ok()) return device.status();
  if (device->gradient_ns().empty()) {
    return BadProfile(path, absl::StrCat(device->device(), " has no gradient_ns"));
  }
  return *std::move(device);
}

std::optional<double> MixBandwidth(const DeviceProfile& device) {
  if (device.mix_bytes() == 0 || device.mix_ns() == 0) return std::nullopt;
  return static_cast<double>(device.mix_bytes()) / static_cast<double>(device.mix_ns());
}

}  // namespace grapevine
