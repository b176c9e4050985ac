// `grapevine version` and --version: what this program is made of.
#ifndef GRAPEVINE_CLI_VERSION_COMMAND_H_
#define GRAPEVINE_CLI_VERSION_COMMAND_H_

#include "cli/command_line.h"

namespace grapevine {

void AddVersionCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_VERSION_COMMAND_H_
