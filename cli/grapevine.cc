#include "cli/grapevine.h"

#include <signal.h>

#include "cli/commands/commands.h"
#include "cli/flags/command_line.h"
#include "cli/terminal/logging.h"

namespace grapevine {
namespace {

constexpr char kFooter[] =
    "Environment:\n"
    "  GRAPEVINE_NAME   the setting --name, with _ for each -: GRAPEVINE_PEER_TIMEOUT is\n"
    "                   --peer-timeout; a flag overrides it, and it overrides --config\n"
    "  GRAPEVINE_TOKEN  the secret of a run, where --token-file has none\n"
    "\n"
    "Exit codes:\n"
    "  0    success; or this node was told to end, and the others go on\n"
    "  1    anything not listed below: a bug, or a failure of the system\n"
    "  2    a wrong flag or configuration, or an impossible combination\n"
    "  3    a data, model or graph file is missing or broken\n"
    "  4    the run directory, another output file or standard output cannot be written\n"
    "  5    the nodes did not find each other, or their settings, data or builds differ\n"
    "  6    a peer fell silent, died or broke the protocol\n"
    "  7    a loss, a gradient or what a neighbour sent became NaN or infinite, or is above\n"
    "       --max-norm\n"
    "  8    no usable GPU, too little memory on it, or it failed\n"
    "  130  SIGINT (of a node that nobody goes on without; with --checkpoint-every after a\n"
    "       checkpoint)\n"
    "  143  SIGTERM, likewise\n"
    "\n"
    "Documentation:\n"
    "  share/doc/grapevine beside the program's folder, where it is installed";

}  // namespace

int RunGrapevine(int argc, char** argv) {
  InitializeLogging(argv[0]);
  // Without these signals, writing beyond the limit on a file's size, or for a reader that has
  // gone, is an error of the writer.
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  CommandLine line("grapevine", "Grapevine: decentralized gossip SGD, for real and in a simulator");
  AddAgentCommand(line);
  AddCompareCommand(line);
  AddCompletionCommand(line);
  AddDoctorCommand(line);
  AddEvalCommand(line);
  AddHelpCommand(line);
  AddManualCommand(line);
  AddNodeCommand(line);
  AddPlotCommand(line);
  AddReplayCommand(line);
  AddReportCommand(line);
  AddSimCommand(line);
  AddTopologyCommand(line);
  AddTrainCommand(line);
  AddVersionCommand(line);
  line.SetFooter(kFooter);
  return line.Run(argc, argv);
}

}  // namespace grapevine
