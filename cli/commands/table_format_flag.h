// --format of the commands that print tables.
#ifndef GRAPEVINE_CLI_COMMANDS_TABLE_FORMAT_FLAG_H_
#define GRAPEVINE_CLI_COMMANDS_TABLE_FORMAT_FLAG_H_

#include <string>

#include "cli/flags/command_line.h"
#include "report/table.h"

namespace grapevine {

// Declares it on `command`; its help continues with the names. `name` outlives the command line.
void AddTableFormatFlag(Command command, const std::string& help, std::string* name);

// Of a name that the flag accepted; CHECKs that it is one.
TableFormat TableFormatNamed(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TABLE_FORMAT_FLAG_H_
