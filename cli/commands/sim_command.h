// `grapevine sim`: an experiment, or a grid of them, in the simulator.
#ifndef GRAPEVINE_CLI_COMMANDS_SIM_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_SIM_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddSimCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_SIM_COMMAND_H_
