// The texts that a command prints before and after a run.
#ifndef GRAPEVINE_CLI_TERMINAL_RUN_TEXT_H_
#define GRAPEVINE_CLI_TERMINAL_RUN_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"

namespace grapevine {

// Returns "finished after 300 rounds (3 epochs), 12.3 s, 1.05 GB sent", and a line with the
// accuracies, if any. A line before these says whether and when a target was met; lines between
// them say which nodes were lost.
std::string Conclusion(const Summary& summary);

// Returns lines that say where the time of a step of real nodes went, on average, which node is the
// slowest, and which nodes waited longest for which; empty if the summary does not say.
std::string StepsText(const Summary& summary);

// Returns "16 simulated nodes, ring, metropolis weights, dpsgd" if `nodes` is "simulated nodes";
// without graph and weights if the algorithm uses none.
std::string CastText(const Experiment& experiment, std::string_view nodes);

// Returns lines with nodes, graph, algorithm, model and length of the run.
std::string Opening(const Experiment& experiment);

// Returns lines that say from where a run goes on and, if it goes on with other nodes, what becomes
// of these and of the length of the run; empty for a run that begins.
std::string GoesOnText(const Experiment& experiment, const std::optional<Checkpoint>& checkpoint);

// Returns lines with the results of the run in folder `run`, and what can be done with its files.
// kInput if its summary cannot be read.
absl::StatusOr<std::string> ClosingText(const Config& config, const std::string& run);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_RUN_TEXT_H_
