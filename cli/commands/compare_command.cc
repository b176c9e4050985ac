#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/terminal/text_output.h"
#include "report/comparison.h"
#include "report/measurements.h"
#include "report/table.h"

namespace grapevine {
namespace {

constexpr char kCompareExamples[] =
    "Examples:\n"
    "  grapevine compare runs/ring runs/torus\n"
    "  grapevine compare runs/sweep --target-accuracy=97% --sort=target --format=markdown\n"
    "  grapevine compare runs/ring --measurements --format=csv -o ring.csv\n"
    "  grapevine compare runs/sweep --seeds --format=booktabs -o table.tex";

struct GivenForTable {
  ComparisonOptions options;
  std::string format = "text";
  std::string output;
};

absl::Status Compare(const GivenForTable& given, bool over_seeds, bool measurements) {
  ComparisonOptions options = given.options;
  options.over_seeds = over_seeds;
  options.format = TableFormatNamed(given.format);
  ASSIGN_OR_RETURN(const std::string text, measurements
                                               ? MeasurementsText(options.runs, options.format)
                                               : ComparisonText(options));
  ASSIGN_OR_RETURN(auto output, TextOutput::Open(given.output));
  const absl::Status status = output.Append(text);
  return status.ok() ? output.Close() : status;
}

}  // namespace

void AddCompareCommand(CommandLine& line) {
  Command command = line.AddCommand(
      "compare", "compare runs in one table, with the command that repeats each of them");
  const auto given = std::make_shared<GivenForTable>();
  ComparisonOptions& options = given->options;
  command
      .AddFlag({.names = "RUN",
                .help = "run directories, or folders of them, sweeps included",
                .placeholder = "DIR"},
               &options.runs)
      .Required();
  const Flag target = command.AddFlag(
      {.names = "--target-accuracy",
       .help = "test accuracy, as 97% or 0.97, the time to which is compared (default: the runs')",
       .placeholder = "P",
       .aliases = {"--target"}},
      &options.target);
  const Flag sort = command
                        .AddFlag({.names = "--sort",
                                  .help = absl::StrCat("what the best run is best at: ",
                                                       absl::StrJoin(ComparisonKeys(), ", ")),
                                  .placeholder = "KEY"},
                                 &options.sort)
                        .OneOf(ComparisonKeys());
  const Flag seeds =
      command.AddSwitch({.names = "--seeds",
                         .help = "a line for the runs that differ only in the seed: mean and "
                                 "standard deviation (of the sample, n - 1), without commands"});
  const Flag measurements =
      command
          .AddSwitch({.names = "--measurements",
                      .help = "a line for each measurement of each run instead, with all fields of "
                              "metrics.jsonl"})
          .Excludes(target)
          .Excludes(sort)
          .Excludes(seeds);
  AddTableFormatFlag(command, "how the table is written", &given->format);
  command.AddFlag({.names = "-o,--out",
                   .help = "file to write (default: standard output)",
                   .placeholder = "FILE",
                   .aliases = {"--output"}},
                  &given->output);
  command.SetFooter(kCompareExamples);
  command.OnChosen([given, seeds, measurements] {
    return Compare(*given, seeds.given(), measurements.given());
  });
}

}  // namespace grapevine
