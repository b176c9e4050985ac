// What a report says, section by section: each a list of blocks (block.h), or the reason why it
// has none, as a status whose message is a sentence for the reader.
//
// Functions read the runs' files and are safe from any thread. Their texts come from untrusted
// files as they are: who shows them escapes them.
#ifndef GRAPEVINE_REPORT_PAGE_SECTIONS_H_
#define GRAPEVINE_REPORT_PAGE_SECTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/page/block.h"
#include "report/run_reader.h"

namespace grapevine {

// Of all runs together.

// How well each ended, how soon and at what cost. `target` is an accuracy; empty: the runs' own.
absl::StatusOr<PageBlocks> OutcomeBlocks(const std::vector<RecordedRun>& runs,
                                         const std::string& target);
// Loss, accuracy and consensus distance against epochs, bytes and time.
absl::StatusOr<PageBlocks> LearningBlocks(const std::vector<RecordedRun>& runs);
// How many updates the models had had since the replicas of the gradients that were applied.
absl::StatusOr<PageBlocks> StalenessBlocks(const std::vector<RecordedRun>& runs);
// Real runs beside simulated ones with the same settings.
absl::StatusOr<PageBlocks> PredictionBlocks(const std::vector<RecordedRun>& runs);

// Of one run.

// How far it is, how much longer it takes, and how far each node is: of one that goes on.
absl::StatusOr<PageBlocks> ProgressBlocks(const RecordedRun& run);
// The graph: nodes coloured by their distance from the mean, slow edges marked.
absl::StatusOr<PageBlocks> GraphBlocks(const RecordedRun& run);
// Who waited for whom.
absl::StatusOr<PageBlocks> WaitingBlocks(const RecordedRun& run);
// What the nodes did with their time, and how busy their interfaces and links were.
absl::StatusOr<PageBlocks> UtilizationBlocks(const RecordedRun& run);
// The command that repeats the run, and its resolved configuration.
absl::StatusOr<PageBlocks> SettingsBlocks(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_SECTIONS_H_
