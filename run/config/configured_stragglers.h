// Which nodes of a configured run are slow.
//
// Pure function; safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIGURED_STRAGGLERS_H_
#define GRAPEVINE_RUN_CONFIG_CONFIGURED_STRAGGLERS_H_

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "run/timing/straggler.h"

namespace grapevine {

// From --straggler and --slow, for the first `nodes` ranks. Errors are those of Stragglers::Make.
absl::StatusOr<Stragglers> ConfiguredStragglers(const Config& config, Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIGURED_STRAGGLERS_H_
