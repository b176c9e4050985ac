#include "sim/platform/platform_description.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sim/platform/platform_options.h"

namespace grapevine {
namespace {

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// Reads the value of `field`, which must be there.
template <typename T>
absl::Status Read(std::string_view field, const std::string& text, std::string_view example,
                  absl::StatusOr<T> (*parse)(std::string_view), T* value) {
  if (text.empty()) {
    return Wrong(absl::StrCat("no ", std::string(field), "; give one, for example \"",
                              std::string(example), "\""));
  }
  const absl::StatusOr<T> parsed = parse(text);
  if (!parsed.ok()) {
    return Wrong(absl::StrCat(std::string(field), ": ", std::string(parsed.status().message())));
  }
  *value = *parsed;
  return absl::OkStatus();
}

}  // namespace

absl::Status PlatformBuilder::AddNode(const std::string& name, bool is_host) {
  if (name.empty()) return Wrong("no name; give every host and switch one of its own");
  if (!numbers_.emplace(name, static_cast<int32_t>(description_.nodes.size())).second) {
    return Wrong(absl::StrCat("the name \"", name,
                              "\" is taken by an earlier host or switch; give it another"));
  }
  description_.nodes.push_back({.name = name, .is_host = is_host});
  return absl::OkStatus();
}

absl::Status PlatformBuilder::AddCable(const CableText& text) {
  PlatformDescription::Cable cable{.duplex = text.duplex};
  absl::Status status = FindNode(text.a, &cable.a);
  status.Update(FindNode(text.b, &cable.b));
  if (status.ok() && cable.a == cable.b) {
    status = Wrong(absl::StrCat("joins \"", text.a, "\" to itself; remove it"));
  }
  status.Update(Read("bandwidth", text.bandwidth, "10Gbit", ParseLinkRate, &cable.bandwidth));
  status.Update(Read("latency", text.latency, "5us", ParseLinkLatency, &cable.latency));
  if (status.ok()) description_.cables.push_back(cable);
  return status;
}

absl::Status PlatformBuilder::SetLoopback(const std::string& bandwidth) {
  return Read("loopback", bandwidth, "80Gbit", ParseLinkRate, &description_.loopback);
}

absl::Status PlatformBuilder::FindNode(const std::string& name, int32_t* node) const {
  if (name.empty()) return Wrong("one of its two ends has no name");
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    return Wrong(
        absl::StrCat("no host or switch is named \"", name, "\"; add it or correct the name"));
  }
  *node = found->second;
  return absl::OkStatus();
}

}  // namespace grapevine
