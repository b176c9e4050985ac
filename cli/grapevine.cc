#include "cli/grapevine.h"

#include <signal.h>

#include "cli/command_line.h"
#include "cli/eval_command.h"
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
  // A file that must not grow any more is then an error of its writer.
  signal(SIGXFSZ, SIG_IGN);
  CommandLine line("grapevine", "Grapevine: decentralized gossip SGD, for real and in a simulator");
  AddEvalCommand(line);
  AddNodeCommand(line);
  AddPlotCommand(line);
  AddSimCommand(line);
  AddTopologyCommand(line);
  AddTrainCommand(line);
  AddVersionCommand(line);
  return line.Run(argc, argv);
}

}  // namespace grapevine
