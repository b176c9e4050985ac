// A comparison of runs in one table: how well each run ended, how soon and at what cost, and the
// command that repeats it.
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
  std::string target;             // a test accuracy; empty: that of the runs
  std::string sort = "accuracy";  // one of ComparisonKeys
  TableFormat format = TableFormat::kText;
  bool over_seeds = false;  // one line for all runs that differ only in the seed
};

// Returns the keys that --sort accepts.
std::vector<std::string> ComparisonKeys();

// Returns a table with a line for each run, the best run first and runs without a value last; equal
// runs stand in the order of their times. CSV has numbers in the units of metrics.jsonl; the other
// formats have units. Runs that have not finished are compared by what they have measured so far.
// In the format kText, the commands that repeat the runs follow the table; in the others they are
// its last column.
//
// With `over_seeds`, a line has the mean and the sample's standard deviation over those of its runs
// that have the value ("2 of 3"), and no command. Lines are sorted by the share of their runs that
// have the value, then by the mean. In CSV a value has three columns: the mean, the deviation
// (empty for a single run), and the number of runs.
//
// Errors are kUsage or kInput.
absl::StatusOr<std::string> ComparisonText(const ComparisonOptions& options);

// Returns the runs as people read them, with units and in the order of ComparisonText; ignores
// `format` and `over_seeds`. Errors are those of ComparisonText.
absl::StatusOr<Table> ComparisonTable(const ComparisonOptions& options);

// Returns the command line that repeats a run: `grapevine sim` for a simulated run, else `grapevine
// train`, with a flag for every setting of the run that differs from its default, quoted for a
// shell. Leaves out where the run was and what it wrote, so that the command makes a new run on
// this machine. If another program computed the gradients, returns the environment variables of the
// run, followed by "PROGRAM". Pure.
std::string RepeatCommand(const Config& config);

// Returns the value of a setting as FieldText does, except that words describe the rounds of an
// open-ended run, which ends when its programs do.
std::string ReadableSetting(const ConfigField& field, const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_COMPARISON_H_
