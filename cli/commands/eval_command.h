// grapevine eval: a model file on a data set.
#ifndef GRAPEVINE_CLI_COMMANDS_EVAL_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_EVAL_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddEvalCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_EVAL_COMMAND_H_
