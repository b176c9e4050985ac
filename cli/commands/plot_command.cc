#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/registry.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/terminal/text_output.h"
#include "report/plot.h"
#include "report/table.h"

namespace grapevine {
namespace {

constexpr char kPlotExamples[] =
    "Examples:\n"
    "  grapevine plot runs/ring runs/torus -o convergence.png\n"
    "  grapevine plot runs/seed-* --x=time --loss=test -o band.svg\n"
    "  grapevine plot runs/ring runs/torus --x=epoch --y=loss --width=column -o loss.pdf\n"
    "  grapevine plot runs/sweep --kind=winner -o winner.png\n"
    "  grapevine plot runs/sweep --kind=winner --format=markdown";

struct GivenForPlot {
  PlotOptions options;
  std::string title;
  std::string output;
  std::string format;
};

absl::Status Print(const PlotOptions& options, TableFormat format, const std::string& output) {
  ASSIGN_OR_RETURN(const Figure figure, MakeFigure(options));
  ASSIGN_OR_RETURN(auto out, TextOutput::Open(output));
  absl::Status status = out.Append(TableText(NumbersOf(figure), format));
  return status.ok() ? out.Close() : status;
}

absl::Status Plot(const GivenForPlot& given) {
  PlotOptions options = given.options;
  if (!given.title.empty()) options.title = given.title;
  if (!given.format.empty() && !options.width.empty()) {
    return UsageError("--width is for pictures, and --format prints numbers; leave out one");
  }
  if (!given.format.empty()) return Print(options, TableFormatNamed(given.format), given.output);
  if (given.output.empty()) {
    return UsageError("give the picture a name with -o, or print its numbers with --format");
  }
  RETURN_IF_ERROR(WriteFigure(options, given.output));
  std::cout << "wrote " << given.output << std::endl;
  return absl::OkStatus();
}

// Returns the kinds, each with its line, and examples.
std::string Footer() {
  std::string text = "Kinds:\n";
  for (const Listing& kind : PlotKinds().Listings()) {
    absl::StrAppendFormat(&text, "  %-14s %s\n", kind.name, kind.help);
  }
  return absl::StrCat(text, "\n", kPlotExamples);
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const PlotKind* kind : PlotKinds().All()) names.push_back(kind->name);
  return names;
}

// Declares the flags for the look of a picture of any kind.
void AddLookFlags(Command command, PlotOptions* options) {
  Adjustment& adjustment = options->adjustment;
  command.AddFlag({.names = "--legend",
                   .help = "name of a curve, once for each, in the order of the legend",
                   .placeholder = "NAME"},
                  &adjustment.legend);
  command.AddFlag({.names = "--x-range",
                   .help = "limits of the horizontal axis, in its unit: 0:10, 5: or :10",
                   .placeholder = "A:B"},
                  &adjustment.x_range);
  command.AddFlag({.names = "--y-range",
                   .help = "limits of the vertical axis, in its unit; of several panels with --y",
                   .placeholder = "A:B"},
                  &adjustment.y_range);
  command.AddFlag({.names = "--smooth",
                   .help = "average so many measurements around each; what was measured stays, "
                           "faintly",
                   .placeholder = "N"},
                  &adjustment.smooth);
  command.AddFlag({.names = "--width",
                   .help = "width on paper, with letters of 7.5 points and a title only by "
                           "--title: column (8.4 cm), page (17.4 cm) or a length as 12cm",
                   .placeholder = "WIDTH",
                   .words = {"column", "page"}},
                  &options->width);
}

}  // namespace

void AddPlotCommand(CommandLine& line) {
  Command command =
      line.AddCommand("plot", "draw pictures of runs and sweeps, or print their numbers");
  auto given = std::make_shared<GivenForPlot>();
  PlotRequest& request = given->options.request;
  command
      .AddFlag({.names = "RUN",
                .help = "run directories, or folders of them; runs that differ in the seed alone "
                        "become one curve with a band",
                .placeholder = "DIR"},
               &request.runs)
      .Required();
  command.AddFlag({.names = "-o,--out",
                   .help = "picture to write, .png, .svg or .pdf; with --format, the file for the "
                           "numbers (default: standard output)",
                   .placeholder = "FILE",
                   .aliases = {"--output"}},
                  &given->output);
  command
      .AddFlag({.names = "--kind", .help = "what to draw, as listed below", .placeholder = "KIND"},
               &given->options.kind)
      .OneOf(KindNames());
  command.AddFlag(
      {.names = "--x",
       .help = "horizontal axis: of convergence epoch, bytes, time or all (default); of accuracy a "
               "setting of the runs, such as batch or lr",
       .placeholder = "AXIS",
       .words = {"epoch", "bytes", "time", "all", "batch", "lr"}},
      &request.x);
  command
      .AddFlag({.names = "--y",
                .help = "what of convergence: loss, accuracy, consensus or all (default)",
                .placeholder = "QUANTITY"},
               &request.y)
      .OneOf({"loss", "accuracy", "consensus", "all"});
  command
      .AddFlag({.names = "--loss",
                .help = "which loss of convergence: train (default) or test",
                .placeholder = "LOSS"},
               &request.loss)
      .OneOf({"train", "test"});
  const Flag log_loss =
      command.AddSwitch({.names = "--log-loss", .help = "a logarithmic axis for the loss"});
  command.AddFlag(
      {.names = "--target-accuracy",
       .help = "test accuracy, as 97% or 0.97, of pictures of the time to it (default: the runs')",
       .placeholder = "P",
       .aliases = {"--target"}},
      &request.target);
  command.AddFlag({.names = "--title",
                   .help = "title (default: what the runs have in common)",
                   .placeholder = "TEXT"},
                  &given->title);
  AddLookFlags(command, &given->options);
  AddTableFormatFlag(command, "instead of a picture, print the numbers that it would show",
                     &given->format);
  command.SetFooter(Footer());
  command.OnChosen([given, log_loss] {
    given->options.request.log_loss = log_loss.given();
    return Plot(*given);
  });
}

}  // namespace grapevine
