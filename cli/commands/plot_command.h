// `grapevine plot RUN... -o FILE`: convergence across runs.
#ifndef GRAPEVINE_CLI_COMMANDS_PLOT_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_PLOT_COMMAND_H_

#include "cli/flags/command_line.h"

namespace grapevine {

void AddPlotCommand(CommandLine& line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_PLOT_COMMAND_H_
