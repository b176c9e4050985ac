// The commands of the program: NAME_command.cc has `grapevine NAME`.
//
// Each is declared on `line` before that runs, and carried out by it when it is chosen.
#ifndef GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
#define GRAPEVINE_CLI_COMMANDS_COMMANDS_H_

#include "cli/flags/command_line.h"

namespace grapevine {

// All nodes of an experiment on this machine.
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
// Recorded nodes again, without a network.
void AddReplayCommand(CommandLine& line);
// A model file on a data set.
void AddEvalCommand(CommandLine& line);
// The versions of this program and its parts; also --version.
void AddVersionCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_COMMANDS_H_
