#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/terminal/text_output.h"
#include "report/page/page.h"

namespace grapevine {
namespace {

constexpr char kReportExamples[] =
    "Examples:\n"
    "  grapevine report runs/ring -o ring.html\n"
    "  grapevine report runs/ring runs/torus --target-accuracy=97% -o report.html\n"
    "  grapevine report runs/real runs/simulated -o prediction.html";

struct GivenForReport {
  PageOptions options;
  std::string output;
};

absl::Status Report(const GivenForReport& given) {
  ASSIGN_OR_RETURN(const std::string page, PageOfRuns(given.options));
  ASSIGN_OR_RETURN(auto output, TextOutput::Open(given.output));
  absl::Status status = output.Append(page);
  if (status.ok()) status = output.Close();
  // For "-", standard output has the page itself.
  if (status.ok() && given.output != "-") std::cout << "wrote " << given.output << std::endl;
  return status;
}

}  // namespace

void AddReportCommand(CommandLine& line) {
  Command command = line.AddCommand(
      "report", "show runs in one HTML page that needs no network and no other file");
  const auto given = std::make_shared<GivenForReport>();
  PageOptions& options = given->options;
  command
      .AddFlag({.names = "RUN",
                .help = "run directories, or folders of them; runs that differ in the seed alone "
                        "become one curve with a band",
                .placeholder = "DIR"},
               &options.runs)
      .Required();
  command
      .AddFlag({.names = "-o,--out",
                .help = "page to write; -: standard output",
                .placeholder = "FILE",
                .aliases = {"--output"}},
               &given->output)
      .Required();
  command.AddFlag(
      {.names = "--target-accuracy",
       .help = "test accuracy, as 97% or 0.97, the time to which is compared (default: the runs')",
       .placeholder = "P",
       .aliases = {"--target"}},
      &options.target);
  command.AddFlag({.names = "--title",
                   .help = "title (default: what the runs have in common)",
                   .placeholder = "TEXT"},
                  &options.title);
  command.SetFooter(kReportExamples);
  command.OnChosen([given] { return Report(*given); });
}

}  // namespace grapevine
