#include "cli/grapevine.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.h"
#include "cli/eval_command.h"
#include "cli/help_formatter.h"
#include "cli/logging.h"
#include "cli/node_command.h"
#include "cli/plot_command.h"
#include "cli/sim_command.h"
#include "cli/topology_command.h"
#include "cli/train_command.h"
#include "cli/version_command.h"

namespace grapevine {

int RunGrapevine(int argc, char** argv) {
  InitializeLogging(argv[0]);
  CLI::App app("Grapevine: decentralized gossip SGD, for real and in a simulator", "grapevine");
  app.formatter(std::make_shared<HelpFormatter>());
  app.group("Commands")->require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help and exit");
  int exit_code = 0;
  AddEvalCommand(app, exit_code);
  AddNodeCommand(app, exit_code);
  AddPlotCommand(app, exit_code);
  AddSimCommand(app, exit_code);
  AddTopologyCommand(app, exit_code);
  AddTrainCommand(app, exit_code);
  AddVersionCommand(app, exit_code);
  return RunCommandLine(app, argc, argv, exit_code);
}

}  // namespace grapevine
