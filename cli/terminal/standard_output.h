// The standard output, whose errors count: a full disk behind it must not look
// like success.
#ifndef GRAPEVINE_CLI_TERMINAL_STANDARD_OUTPUT_H_
#define GRAPEVINE_CLI_TERMINAL_STANDARD_OUTPUT_H_

#include "absl/status/status.h"

namespace grapevine {

// Writes out what std::cout and stdout hold. kOutput when that, or anything
// written to them before, failed. From one thread.
absl::Status FlushStandardOutput();

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_STANDARD_OUTPUT_H_
