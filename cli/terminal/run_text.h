// What a command says before and after a run.
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

// "finished after 300 rounds (3 epochs), 12.3 s, 1.05 GB sent", and a line with the accuracies,
// if any; before them, whether and when a target was met; between them, who was lost.
std::string Conclusion(const Summary& summary);

// Where the time of a step of real nodes went, on average, which node is the slowest, and who
// waited longest for whom, as lines; nothing where the summary does not say.
std::string StepsText(const Summary& summary);

// "16 simulated nodes, ring, metropolis weights, dpsgd", where `nodes` is "simulated nodes";
// without graph and weights where the algorithm uses none.
std::string CastText(const Experiment& experiment, std::string_view nodes);

// Nodes, graph, algorithm, model and length of the run, as lines.
std::string Opening(const Experiment& experiment);

// From where a run goes on, and, if it does with other nodes, what becomes of them and of its
// length, as lines; nothing for one that begins.
std::string GoesOnText(const Experiment& experiment, const std::optional<Checkpoint>& checkpoint);

// The results of the run in folder `run`, and what can be done with its files, as lines. kInput
// if its summary cannot be read.
absl::StatusOr<std::string> ClosingText(const Config& config, const std::string& run);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_RUN_TEXT_H_
