#include "run/config/configured_stragglers.h"

#include <string>
#include <vector>

namespace grapevine {

absl::StatusOr<Stragglers> ConfiguredStragglers(const Config& config, Rank nodes) {
  const std::vector<std::string> slow(config.slow().begin(), config.slow().end());
  return Stragglers::Make(config.straggler(), slow, nodes, config.seed());
}

}  // namespace grapevine
