// `grapevine version` and --version: what this program is made of.
#ifndef GRAPEVINE_CLI_VERSION_COMMAND_H_
#define GRAPEVINE_CLI_VERSION_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddVersionCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_VERSION_COMMAND_H_
