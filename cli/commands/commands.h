// The commands of the program, NAME_command.cc has `grapevine NAME`, and the flag that those share
// which print tables.
//
// Each command is declared on `line` before that runs, and carried out by it when it is chosen.
#ifndef GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
#define GRAPEVINE_CLI_COMMANDS_COMMANDS_H_

#include <string>

#include "cli/flags/command_line.h"
#include "report/table.h"

namespace grapevine {

// What starts nodes on another host.
void AddAgentCommand(CommandLine& line);
// The hosts of a run before it begins, and the network between them.
void AddDoctorCommand(CommandLine& line);
// All nodes of an experiment, on this machine or several.
void AddTrainCommand(CommandLine& line);
// One process of a cluster.
void AddNodeCommand(CommandLine& line);
// An experiment, or a grid of them, in the simulator.
void AddSimCommand(CommandLine& line);
// The properties of a graph, or the graph itself.
void AddTopologyCommand(CommandLine& line);
// Convergence across runs, and the results of sweeps, as pictures.
void AddPlotCommand(CommandLine& line);
// Runs side by side in one table.
void AddCompareCommand(CommandLine& line);
// Runs in one HTML page.
void AddReportCommand(CommandLine& line);
// Recorded nodes again, without a network.
void AddReplayCommand(CommandLine& line);
// A model file on a data set.
void AddEvalCommand(CommandLine& line);
// The versions of this program and its parts; also --version.
void AddVersionCommand(CommandLine& line);

// What describes `line` itself, which outlives its run: scripts for shells, help, manual pages.
void AddCompletionCommand(CommandLine& line);
void AddHelpCommand(CommandLine& line);
void AddManualCommand(CommandLine& line);

// Declares --format on `command`, which prints a table; its help continues with the names. `name`
// outlives the command line.
void AddTableFormatFlag(Command command, const std::string& help, std::string* name);

// Of a name that the flag accepted; CHECKs that it is one.
TableFormat TableFormatNamed(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
