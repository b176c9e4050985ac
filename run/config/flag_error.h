// How an error about the value of a setting names where it was given: flag, variable or
// file.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_
#define GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// "--batch", "GRAPEVINE_BATCH", "ring.textproto:3: batch"; the flag of a default.
std::string PlaceOf(const ResolvedConfig& resolved, const std::string& field);

// With the value: "GRAPEVINE_BATCH=-3".
std::string Culprit(const ResolvedConfig& resolved, const std::string& field);

// An error about the value of `flag` ("--model"), with the flag before it:
// "lenet6: unknown network" and "unknown network" both become
// "--model=lenet6: unknown network". Left as they are: OK, what begins with a flag
// already, and errors that are not kUsage, which name a file.
absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status);

// An error that begins with the flag of a setting, with the place in its stead that
// the value came from: "--lr=2: ..." becomes "GRAPEVINE_LR=2: ..." or
// "ring.textproto:3: lr=2: ...". Left as they are: errors about the command line
// and about defaults, and those that NamingFlag leaves.
absl::Status NamingOrigin(const ResolvedConfig& resolved, absl::Status status);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_
