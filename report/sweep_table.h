// The cells of a sweep as one table: CSV for programs, aligned text for people.
#ifndef GRAPEVINE_REPORT_SWEEP_TABLE_H_
#define GRAPEVINE_REPORT_SWEEP_TABLE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "run/records/metrics.h"

namespace grapevine {

struct SweepRow {
  // What distinguishes the cell: {"topology", "ring"}; the same names in every row.
  std::vector<std::pair<std::string, std::string>> coordinates;
  absl::StatusOr<Summary> summary;
};

// Returns the time of a run in seconds, by the clock of the simulated cluster or else by that of
// the real world; absent if it was not measured.
std::optional<double> TimeOf(const Summary& summary);

// Returns a header and one line per cell (RFC 4180). Columns: the coordinates (one with the name of
// a result is called by its flag: --rounds), rounds, epochs, simulated_time_s or, for real nodes,
// wall_time_s, seconds_per_round, bytes_sent_total, train_loss, test_accuracy, target_met ("true",
// "false"), target_round, target_time_s, consensus_distance, error. Values that were not measured
// are empty.
std::string SweepCsv(const std::vector<SweepRow>& rows);

// Returns the cells as aligned text with units, without the columns that are empty in every row.
std::string SweepText(const std::vector<SweepRow>& rows);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_TABLE_H_
