// grapevine topology: the properties of a graph, or the graph itself.
#ifndef GRAPEVINE_CLI_COMMANDS_TOPOLOGY_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_TOPOLOGY_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddTopologyCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TOPOLOGY_COMMAND_H_
