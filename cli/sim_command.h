// `grapevine sim`: an experiment, or a grid of them, in the simulator.
#ifndef GRAPEVINE_CLI_SIM_COMMAND_H_
#define GRAPEVINE_CLI_SIM_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddSimCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_SIM_COMMAND_H_
