#include "sim/platform/platform_request.h"

#include <glog/logging.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/registry.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "sim/platform/platform_file.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {

namespace {

constexpr std::string_view kFile = "file:";

// The path in a spec that names a file.
std::optional<std::string> PathIn(std::string_view network) {
  if (network.starts_with(kFile)) return std::string(network.substr(kFile.size()));
  for (const std::string_view ending : {".textproto", ".graphml"}) {
    if (network.ends_with(ending)) return std::string(network);
  }
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeFromFile(const std::string& path,
                                                             const PlatformRequest& request) {
  const char* const flag = request.bandwidth     ? "--bandwidth"
                           : request.latency     ? "--latency"
                           : request.half_duplex ? "--half-duplex"
                                                 : nullptr;
  if (flag != nullptr) {
    return SpecError(request.network,
                     absl::StrCat("the file says what its links can do; change it there and leave ",
                                  flag, " out"));
  }
  return LoadPlatformFile(path);
}

// A preset's name becomes the spec that it stands for; the user's options override its own.
absl::StatusOr<Spec> Expand(Spec spec) {
  const PlatformKind* const kind = Platforms().Find(spec.name);
  if (kind == nullptr || kind->preset.empty()) return spec;
  if (!spec.arguments.empty()) {
    return SpecError(spec.text, absl::StrCat("unexpected '", spec.arguments[0], "'"));
  }
  absl::StatusOr<Spec> expanded = ParseSpec(kind->preset);
  if (!expanded.ok()) return expanded.status();
  expanded->text = spec.text;
  for (const auto& [key, value] : spec.options) expanded->options[key] = value;
  return expanded;
}

// Puts the options given beside `spec` into `expanded`.
absl::Status AddFlags(const PlatformRequest& request, const Spec& spec, Spec* expanded) {
  struct Given {
    std::string_view flag;
    std::string key;
    std::string value;
  };
  std::vector<Given> given;
  if (request.bandwidth) {
    given.push_back({"--bandwidth", "bandwidth", FormatBandwidth(*request.bandwidth)});
  }
  if (request.latency) {
    given.push_back(
        {"--latency", "latency", FormatDuration(std::chrono::nanoseconds(*request.latency))});
  }
  if (request.half_duplex) given.push_back({"--half-duplex", "duplex", "half"});
  for (const Given& flag : given) {
    if (spec.options.contains(flag.key)) {
      return SpecError(spec.text,
                       absl::StrCat("says ", flag.key, "=", spec.options.at(flag.key), ", and ",
                                    std::string(flag.flag), " says it too; leave one out"));
    }
    expanded->options[flag.key] = flag.value;
  }
  return absl::OkStatus();
}

// Families, files and presets.
std::vector<Listing> Known() {
  std::vector<Listing> known = Platforms().Listings();
  known.push_back({.name = "file", .options = ":PATH", .help = "a network of your own"});
  return known;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Platform>> MakePlatform(const PlatformRequest& request) {
  if (const auto path = PathIn(request.network)) return MakeFromFile(*path, request);
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(request.network));
  ASSIGN_OR_RETURN(Spec expanded, Expand(spec));
  const PlatformKind* const family = Platforms().Find(expanded.name);
  if (family == nullptr) return UnknownNameError("network", spec.text, expanded.name, Known());
  CHECK(family->make) << spec.name << " stands for " << expanded.name << ", itself a preset";
  RETURN_IF_ERROR(AddFlags(request, spec, &expanded));
  return family->make(expanded, request.hosts);
}

}  // namespace grapevine
