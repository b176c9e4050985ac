// `grapevine train`: all nodes of an experiment on this machine.
#ifndef GRAPEVINE_CLI_COMMANDS_TRAIN_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_TRAIN_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddTrainCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TRAIN_COMMAND_H_
