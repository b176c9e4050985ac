// Which flag a value came by that somebody deeper down refused.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_CLI_FLAG_ERROR_H_
#define GRAPEVINE_CLI_FLAG_ERROR_H_

#include <string_view>

#include "absl/status/status.h"

namespace grapevine {

// An error about the value of `flag` ("--model"), with the flag before it:
// "lenet6: unknown network" and "unknown network" both become
// "--model=lenet6: unknown network". Left as they are: OK, what begins with a flag
// already, and errors that are not kUsage, which name a file.
absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAG_ERROR_H_
