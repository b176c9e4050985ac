// Completion of a command line in shells, as scripts that need nothing else.
//
// They complete commands, flags, what values may begin with (also the elements of lists and the
// paths in "file:PATH"), files and folders. Pure functions, safe from any thread.
#ifndef GRAPEVINE_CLI_REFERENCE_SHELL_COMPLETION_H_
#define GRAPEVINE_CLI_REFERENCE_SHELL_COMPLETION_H_

#include <string>

#include "cli/flags/command_description.h"

namespace grapevine {

// Returns a script for bash 4.4 or newer, with or without the package bash-completion.
std::string BashCompletion(const CommandDescription& program);

// Returns a script for zsh 5: a file _grapevine in $fpath, or to be sourced after compinit.
std::string ZshCompletion(const CommandDescription& program);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_REFERENCE_SHELL_COMPLETION_H_
