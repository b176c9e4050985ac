// The frame of the command line: one program, several commands, one way of
// saying what went wrong.
#ifndef GRAPEVINE_CLI_COMMAND_LINE_H_
#define GRAPEVINE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "absl/status/status.h"

namespace grapevine {

// Prints "grapevine train: <message>" to stderr and returns the exit code.
int ReportFailure(const CLI::App& command, const absl::Status& status);

// Runs `body` when `command` is chosen; what it returns becomes `exit_code`.
void OnChosen(CLI::App& command, int& exit_code, std::function<absl::Status()> body);

// Parses and runs. An unknown flag or command is answered with the nearest one
// that exists, no arguments at all with the help. Returns the exit code of the process.
int RunCommandLine(CLI::App& app, int argc, char** argv, const int& exit_code);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMAND_LINE_H_
