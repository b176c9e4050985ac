// How an error about a setting names where its value was given: by a flag, a variable or a file.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_
#define GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// "--batch", "GRAPEVINE_BATCH", "ring.textproto:3: batch"; for a default, the flag.
std::string OriginText(const ResolvedConfig& resolved, const std::string& field);

// The same with the value: "GRAPEVINE_BATCH=-3".
std::string Culprit(const ResolvedConfig& resolved, const std::string& field);

// Puts `flag` ("--model") in front of an error about its value: "lenet6: unknown network" and
// "unknown network" both become "--model=lenet6: unknown network". Unchanged: OK, errors that
// begin with a flag already, and errors other than kUsage, which name a file.
absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status);

// Replaces the flag at the beginning of an error by the origin of the value: "--lr=2:
// ..." becomes "GRAPEVINE_LR=2: ..." or "ring.textproto:3: lr=2: ...". Unchanged: errors about
// the command line and about defaults, and those that NamingFlag leaves unchanged.
absl::Status NamingOrigin(const ResolvedConfig& resolved, absl::Status status);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_FLAG_ERROR_H_
