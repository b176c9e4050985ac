// `grapevine version` and --version: what this program is made of.
#ifndef GRAPEVINE_CLI_COMMANDS_VERSION_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_VERSION_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddVersionCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_VERSION_COMMAND_H_
