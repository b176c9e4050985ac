// Whether the values of a configuration make sense by themselves and together.
// What a spec means (a topology, a data set) is checked by whoever builds it.
#ifndef GRAPEVINE_RUN_CONFIG_VALIDATE_H_
#define GRAPEVINE_RUN_CONFIG_VALIDATE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "run/resolved_config.h"

namespace grapevine {

// The first thing that is wrong, as kUsage: where the value came from, what is
// wrong and the remedy.
absl::Status ValidateConfig(const ResolvedConfig& resolved);

// A node whose gradients take `factor` times as long.
struct Straggler {
  int rank;
  double factor;
};

// The parsed --slow list. Errors are kUsage: malformed, a rank outside the run
// or named twice, a factor below 1.
absl::StatusOr<std::vector<Straggler>> Stragglers(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_VALIDATE_H_
