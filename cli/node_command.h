// grapevine node: one process of a cluster.
#ifndef GRAPEVINE_CLI_NODE_COMMAND_H_
#define GRAPEVINE_CLI_NODE_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddNodeCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_NODE_COMMAND_H_
