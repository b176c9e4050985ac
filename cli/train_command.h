// `grapevine train`: all nodes of an experiment on this machine.
#ifndef GRAPEVINE_CLI_TRAIN_COMMAND_H_
#define GRAPEVINE_CLI_TRAIN_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddTrainCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TRAIN_COMMAND_H_
