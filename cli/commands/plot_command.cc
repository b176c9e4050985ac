#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "report/plot.h"
#include "report/sweep_plot.h"

namespace grapevine {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  grapevine plot runs/ring runs/torus -o convergence.png\n"
    "  grapevine plot runs/seed-* --x=time --loss=test -o band.svg\n"
    "  grapevine plot runs/sweep --kind=winner -o winner.png";

const std::map<std::string, SweepPicture> kSweepPictures = {{"step-time", SweepPicture::kStepTime},
                                                            {"winner", SweepPicture::kWinner},
                                                            {"speed-up", SweepPicture::kSpeedUp}};

struct Given {
  PlotOptions options;
  std::string kind = "convergence";
  std::string x = "all";
  std::string loss = "train";
  std::string title;
};

PlotOptions OptionsOf(const Given& given) {
  PlotOptions options = given.options;
  if (given.x == "epoch") options.against = {Horizontal::kEpoch};
  if (given.x == "bytes") options.against = {Horizontal::kBytes};
  if (given.x == "time") options.against = {Horizontal::kTime};
  if (given.loss == "test") options.loss = Vertical::kTestLoss;
  if (!given.title.empty()) options.title = given.title;
  return options;
}

absl::Status Plot(const Given& given) {
  const auto sweep = kSweepPictures.find(given.kind);
  if (sweep == kSweepPictures.end()) return PlotRuns(OptionsOf(given));
  SweepPlotOptions options{.picture = sweep->second,
                           .sweeps = given.options.runs,
                           .output = given.options.output,
                           .title = std::nullopt};
  if (!given.title.empty()) options.title = given.title;
  return PlotSweep(options);
}

}  // namespace

void AddPlotCommand(CommandLine& line) {
  Command command =
      line.AddCommand("plot", "plot the convergence of runs, or a sweep of the simulator");
  auto given = std::make_shared<Given>();
  command
      .AddFlag({.names = "RUN",
                .help = "run directories, or folders of them; runs that differ in the seed alone "
                        "become one curve with a band",
                .placeholder = "DIR"},
               &given->options.runs)
      .Required();
  command
      .AddFlag(
          {.names = "-o,--output", .help = "picture to write, .png or .svg", .placeholder = "FILE"},
          &given->options.output)
      .Required();
  command
      .AddFlag(
          {.names = "--kind",
           .help = "convergence: loss, accuracy and consensus distance against epoch, bytes and "
                   "time; of sweeps: step-time (of a round, against bandwidth and latency), winner "
                   "(gossip or centralized, over bandwidth and latency), speed-up (against nodes)",
           .placeholder = "KIND"},
          &given->kind)
      .OneOf({"convergence", "step-time", "winner", "speed-up"});
  command
      .AddFlag({.names = "--x",
                .help = "horizontal axis of convergence: epoch, bytes, time or all",
                .placeholder = "AXIS"},
               &given->x)
      .OneOf({"epoch", "bytes", "time", "all"});
  command
      .AddFlag({.names = "--loss", .help = "which loss: train or test", .placeholder = "LOSS"},
               &given->loss)
      .OneOf({"train", "test"});
  command.AddFlag({.names = "--title",
                   .help = "title (default: what the runs have in common)",
                   .placeholder = "TEXT"},
                  &given->title);
  command.SetFooter(kExamples);
  command.OnChosen([given] {
    absl::Status status = Plot(*given);
    if (status.ok()) std::cout << "wrote " << given->options.output << std::endl;
    return status;
  });
}

}  // namespace grapevine
