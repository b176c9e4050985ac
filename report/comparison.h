// Runs side by side in one table: how well each ended, how soon and at what cost, and the command
// that repeats it.
//
// Safe from any thread; the comparison reads the runs' files.
#ifndef GRAPEVINE_REPORT_COMPARISON_H_
#define GRAPEVINE_REPORT_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/table.h"
#include "run/config/config.pb.h"
#include "run/config/config_field.h"

namespace grapevine {

struct ComparisonOptions {
  std::vector<std::string> runs;  // run directories, or folders of them
  std::string target;             // an accuracy; empty: the runs' own
  std::string sort = "accuracy";  // one of ComparisonKeys
  TableFormat format = TableFormat::kText;
  bool over_seeds = false;  // a line for the runs that differ only in the seed
};

// What --sort may name.
std::vector<std::string> ComparisonKeys();

// A line for each run, the best first and those without a value last; equal ones in the order of
// their times. CSV has numbers in the units of metrics.jsonl, the others have units. Runs that have
// not finished are compared by what they have measured so far. For a terminal, the commands that
// repeat the runs follow the table; else they are its last column.
//
// Over seeds, a line has the mean and the sample's standard deviation of its runs, of those that
// have the value ("2 of 3"), and no command; the means are sorted, those of all runs before those
// of some. Of CSV these are three columns:
// the mean, the deviation (empty for one run alone), and how many runs. Errors are kUsage or
// kInput.
absl::StatusOr<std::string> ComparisonText(const ComparisonOptions& options);

// The runs as people read them, in the order of ComparisonText; `options.format` plays no part.
// Errors as ComparisonText's.
absl::StatusOr<Table> ComparisonTable(const ComparisonOptions& options);

// The command line that repeats a run: `grapevine sim` for a simulated run, else `grapevine train`,
// with a flag for every setting of the run that is not its default; quoted for a shell. Where the
// run was and what it wrote is left out, so that it becomes a new run on this machine. Where
// another program computed the gradients, the variables of the environment in front of "PROGRAM".
// Pure.
std::string RepeatCommand(const Config& config);

// What a setting was, as FieldText; the rounds of a run that its programs end in words.
std::string ReadableSetting(const ConfigField& field, const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_COMPARISON_H_
