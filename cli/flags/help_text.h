// The help of a command as text, for a terminal of 100 columns.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_CLI_FLAGS_HELP_TEXT_H_
#define GRAPEVINE_CLI_FLAGS_HELP_TEXT_H_

#include <string>

#include "cli/flags/command_description.h"

namespace grapevine {

// How much of a command that has many flags is shown: what most people use, in a few words; or
// everything.
enum class HelpExtent { kShort, kAll };

// Returns the help of a command, or of the program. `name` is how it is called: "grapevine train".
std::string HelpText(const CommandDescription& command, const std::string& name, HelpExtent extent);

// Returns the help of one flag of the command called `name`, with a paragraph for each choice.
std::string FlagHelpText(const FlagDescription& flag, const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_HELP_TEXT_H_
