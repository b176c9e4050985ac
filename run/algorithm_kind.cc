#include "run/algorithm_kind.h"

#include <string_view>

namespace grapevine {

bool IsCentralized(const Config& config) {
  const std::string_view algorithm = config.algorithm();
  const std::string_view name = algorithm.substr(0, algorithm.find(':'));
  return name == "allreduce" || name == "ps";
}

}  // namespace grapevine
