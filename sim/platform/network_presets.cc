#include "sim/platform/network_presets.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "sim/platform/presets.pb.h"

namespace grapevine {
namespace {

constexpr char kText[] =
#include "sim/platform/presets.inc"
    ;

std::vector<NetworkPreset> Parse() {
  NetworkPresets file;
  CHECK(google::protobuf::TextFormat::ParseFromString(kText, &file));
  std::vector<NetworkPreset> presets;
  for (const NetworkPresets::Preset& preset : file.preset()) {
    presets.push_back({.name = preset.name(),
                       .network = preset.network(),
                       .summary = preset.summary(),
                       .source = preset.source()});
  }
  return presets;
}

}  // namespace

const std::vector<NetworkPreset>& AllNetworkPresets() {
  static const auto* const presets = new std::vector<NetworkPreset>(Parse());
  return *presets;
}

const NetworkPreset* FindNetworkPreset(std::string_view name) {
  const auto& presets = AllNetworkPresets();
  const auto found = std::ranges::find(presets, name, &NetworkPreset::name);
  return found != presets.end() ? &*found : nullptr;
}

}  // namespace grapevine
