// grapevine eval: a model file on a data set.
#ifndef GRAPEVINE_CLI_EVAL_COMMAND_H_
#define GRAPEVINE_CLI_EVAL_COMMAND_H_

#include <CLI/CLI.hpp>

namespace grapevine {

void AddEvalCommand(CLI::App& app, int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_EVAL_COMMAND_H_
