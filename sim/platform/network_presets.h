// The networks that have a name; presets.textproto lists them.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_SIM_PLATFORM_NETWORK_PRESETS_H_
#define GRAPEVINE_SIM_PLATFORM_NETWORK_PRESETS_H_

#include <string>
#include <string_view>
#include <vector>

namespace grapevine {

struct NetworkPreset {
  std::string name;
  std::string network;  // the spec that it stands for
  std::string summary;  // one line
  std::string source;   // of its numbers
};

const std::vector<NetworkPreset>& AllNetworkPresets();
// Null for a name that is none.
const NetworkPreset* FindNetworkPreset(std::string_view name);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_NETWORK_PRESETS_H_
