// grapevine topology: the properties of a graph, or the graph itself.
#ifndef GRAPEVINE_CLI_TOPOLOGY_COMMAND_H_
#define GRAPEVINE_CLI_TOPOLOGY_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

// Both arguments must outlive the parsing.
void AddTopologyCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TOPOLOGY_COMMAND_H_
