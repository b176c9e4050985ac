#include "run/config/config_values.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"

namespace grapevine {

namespace {

constexpr std::string_view kCuda = "cuda:";
// Far more than one machine has.
constexpr int kMaxGpus = 1024;

}  // namespace

absl::StatusOr<DeviceSpec> ParseDevice(std::string_view text) {
  if (text == "cpu") return DeviceSpec{};
  if (text == "cuda") return DeviceSpec{.cuda = true, .index = 0};
  if (text == "cuda:auto") return DeviceSpec{.cuda = true, .index = std::nullopt};
  int index = 0;
  if (text.starts_with(kCuda) && absl::SimpleAtoi(std::string(text.substr(kCuda.size())), &index) &&
      index >= 0 && index < kMaxGpus) {
    return DeviceSpec{.cuda = true, .index = index};
  }
  return UsageError("must be one of cpu, cuda, cuda:INDEX, cuda:auto");
}

absl::StatusOr<Stragglers> ConfiguredStragglers(const Config& config, Rank nodes) {
  const std::vector<std::string> slow(config.slow().begin(), config.slow().end());
  return Stragglers::Make(config.straggler(), slow, nodes, config.seed());
}

}  // namespace grapevine
