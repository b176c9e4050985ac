// The grapevine program: joins the commands, and knows nothing else.
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

int main(int argc, char** argv) {
  grapevine::InitializeLogging(argv[0]);
  CLI::App app("Grapevine: decentralized gossip SGD, for real and in a simulator", "grapevine");
  app.formatter(std::make_shared<grapevine::HelpFormatter>());
  app.group("Commands")->require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help and exit");
  int exit_code = 0;
  grapevine::AddEvalCommand(app, exit_code);
  grapevine::AddNodeCommand(app, exit_code);
  grapevine::AddPlotCommand(app, exit_code);
  grapevine::AddSimCommand(app, exit_code);
  grapevine::AddTopologyCommand(app, exit_code);
  grapevine::AddTrainCommand(app, exit_code);
  grapevine::AddVersionCommand(app, exit_code);
  return grapevine::RunCommandLine(app, argc, argv, exit_code);
}
