// `grapevine sim --advise`: which topology and algorithm on this cluster?
#ifndef GRAPEVINE_CLI_COMMANDS_SIM_ADVICE_H_
#define GRAPEVINE_CLI_COMMANDS_SIM_ADVICE_H_

#include <atomic>

#include "absl/status/status.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// Prints the advice, as JSON if `json`, for the nodes, model and network of `resolved`. A model
// that learns counts by its size and, unless --compute is given, by the time that a gradient
// takes on this machine. With `dry_run`, only checks and prints the candidates.
absl::Status PrintAdvice(const ResolvedConfig& resolved, bool json, bool dry_run,
                         const std::atomic<bool>& interrupted);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_SIM_ADVICE_H_
