// How an error begins that is about a value of a configuration: where it was given.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_CULPRIT_H_
#define GRAPEVINE_RUN_CONFIG_CULPRIT_H_

#include <string>

#include "run/config/resolved_config.h"

namespace grapevine {

// "--batch", "GRAPEVINE_BATCH", "ring.textproto:3: batch"; the flag of a default.
std::string PlaceOf(const ResolvedConfig& resolved, const std::string& field);

// With the value: "GRAPEVINE_BATCH=-3".
std::string Culprit(const ResolvedConfig& resolved, const std::string& field);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CULPRIT_H_
