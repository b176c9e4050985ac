#include "cli/plot_command.h"

#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cli/command_line.h"
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

void AddPlotCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("plot", "draw how runs converged, or what a sweep of the simulator says");
  auto given = std::make_shared<Given>();
  command
      ->add_option("RUN", given->options.runs,
                   "run directories, or folders of them; runs that differ in the seed alone "
                   "become one curve with a band")
      ->type_name("DIR")
      ->required();
  command->add_option("-o,--output", given->options.output, "picture to write, .png or .svg")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--kind", given->kind,
                   "convergence: loss, accuracy and consensus distance against epoch, bytes and "
                   "time; of sweeps: step-time (of a round, against bandwidth and latency), winner "
                   "(gossip or centralized, over bandwidth and latency), speed-up (against nodes)")
      ->type_name("KIND")
      ->capture_default_str()
      ->check(CLI::IsMember({"convergence", "step-time", "winner", "speed-up"}));
  command->add_option("--x", given->x, "horizontal axis of convergence: epoch, bytes, time or all")
      ->type_name("AXIS")
      ->capture_default_str()
      ->check(CLI::IsMember({"epoch", "bytes", "time", "all"}));
  command->add_option("--loss", given->loss, "which loss: train or test")
      ->type_name("LOSS")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "test"}));
  command->add_option("--title", given->title, "title in place of what the runs have in common")
      ->type_name("TEXT");
  command->footer(kExamples);
  OnChosen(*command, exit_code, [given] {
    absl::Status status = Plot(*given);
    if (status.ok()) std::cout << "wrote " << given->options.output << std::endl;
    return status;
  });
}

}  // namespace grapevine
