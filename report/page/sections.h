// The sections of a report. Each is a list of blocks (block.h), or the reason why it has none, as a
// status whose message is a sentence for the reader.
//
// The functions read the runs' files and are safe from any thread. Their texts come unchanged from
// untrusted files: the code that shows them must escape them.
#ifndef GRAPEVINE_REPORT_PAGE_SECTIONS_H_
#define GRAPEVINE_REPORT_PAGE_SECTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/page/block.h"
#include "report/run_reader.h"

namespace grapevine {

// Sections about all runs together:

// Shows how well each run ended, how soon and at what cost. `target` is a test accuracy; empty:
// that of the runs.
absl::StatusOr<PageBlocks> OutcomeBlocks(const std::vector<RecordedRun>& runs,
                                         const std::string& target);
// Shows loss, accuracy and consensus distance against epochs, bytes and time.
absl::StatusOr<PageBlocks> LearningBlocks(const std::vector<RecordedRun>& runs);
// Shows how stale the applied gradients were: the number of updates that the models had had since
// the replicas at which the gradients were taken.
absl::StatusOr<PageBlocks> StalenessBlocks(const std::vector<RecordedRun>& runs);
// Shows real runs beside simulated ones with the same settings.
absl::StatusOr<PageBlocks> PredictionBlocks(const std::vector<RecordedRun>& runs);

// Sections about one run:

// Shows how far a run is that goes on, how much longer it takes, and how far each node is.
absl::StatusOr<PageBlocks> ProgressBlocks(const RecordedRun& run);
// Shows the graph: nodes coloured by their distance from the mean, slow edges marked.
absl::StatusOr<PageBlocks> GraphBlocks(const RecordedRun& run);
// Shows which nodes waited for which.
absl::StatusOr<PageBlocks> WaitingBlocks(const RecordedRun& run);
// Shows what the nodes did with their time, and how busy their interfaces and links were.
absl::StatusOr<PageBlocks> UtilizationBlocks(const RecordedRun& run);
// Shows the command that repeats the run, and its resolved configuration.
absl::StatusOr<PageBlocks> SettingsBlocks(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_SECTIONS_H_
