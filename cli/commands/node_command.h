// grapevine node: one process of a cluster.
#ifndef GRAPEVINE_CLI_COMMANDS_NODE_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_NODE_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddNodeCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_NODE_COMMAND_H_
