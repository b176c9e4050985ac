#include "cli/grapevine.h"

#include <signal.h>

#include "cli/commands/commands.h"
#include "cli/flags/command_line.h"
#include "cli/terminal/logging.h"

namespace grapevine {

int RunGrapevine(int argc, char** argv) {
  InitializeLogging(argv[0]);
  // Then writing beyond the limit on a file's size is an error of the writer.
  signal(SIGXFSZ, SIG_IGN);
  CommandLine line("grapevine", "Grapevine: decentralized gossip SGD, for real and in a simulator");
  AddAgentCommand(line);
  AddCompareCommand(line);
  AddEvalCommand(line);
  AddNodeCommand(line);
  AddPlotCommand(line);
  AddReplayCommand(line);
  AddSimCommand(line);
  AddTopologyCommand(line);
  AddTrainCommand(line);
  AddVersionCommand(line);
  return line.Run(argc, argv);
}

}  // namespace grapevine
