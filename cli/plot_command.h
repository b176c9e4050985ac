// `grapevine plot RUN... -o FILE`: convergence across runs.
#ifndef GRAPEVINE_CLI_PLOT_COMMAND_H_
#define GRAPEVINE_CLI_PLOT_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddPlotCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_PLOT_COMMAND_H_
