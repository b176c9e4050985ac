// The commands of the program (NAME_command.cc has `grapevine NAME`), and the flag that commands
// which print tables share.
//
// Each function declares a command on `line` before `line` runs; `line` carries out the command
// when it is chosen.
#ifndef GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
#define GRAPEVINE_CLI_COMMANDS_COMMANDS_H_

#include <string>

#include "cli/flags/command_line.h"
#include "report/table.h"

namespace grapevine {

// `agent` starts nodes for a launcher on another host.
void AddAgentCommand(CommandLine& line);
// `doctor` examines the hosts of a run before it begins, and the network between them.
void AddDoctorCommand(CommandLine& line);
// `train` runs all nodes of an experiment, on this machine or several.
void AddTrainCommand(CommandLine& line);
// `node` runs one node of a cluster.
void AddNodeCommand(CommandLine& line);
// `sim` runs an experiment, or a grid of them, in the simulator.
void AddSimCommand(CommandLine& line);
// `topology` prints the properties of a graph, or the graph itself.
void AddTopologyCommand(CommandLine& line);
// `plot` draws convergence across runs, and the results of sweeps, as pictures.
void AddPlotCommand(CommandLine& line);
// `compare` shows runs side by side in one table.
void AddCompareCommand(CommandLine& line);
// `report` shows runs in one HTML page.
void AddReportCommand(CommandLine& line);
// `replay` runs recorded nodes again, without a network.
void AddReplayCommand(CommandLine& line);
// `eval` evaluates a model file on a data set.
void AddEvalCommand(CommandLine& line);
// `version` prints the versions of this program and its parts; also declares --version.
void AddVersionCommand(CommandLine& line);

// `completion`, `help` and `manual` describe `line` itself, as scripts for shells, help and manual
// pages. `line` must outlive its run.
void AddCompletionCommand(CommandLine& line);
void AddHelpCommand(CommandLine& line);
void AddManualCommand(CommandLine& line);

// Declares --format on `command`, which prints a table; `help` is continued with the names of the
// formats. `name` must outlive the command line.
void AddTableFormatFlag(Command command, const std::string& help, std::string* name);

// Returns the format with a name that the flag accepted; CHECKs that it is one.
TableFormat TableFormatNamed(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
