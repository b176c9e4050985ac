#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/status.h"
#include "cli/commands/commands.h"

namespace grapevine {

void AddHelpCommand(CommandLine& line) {
  Command command = line.AddCommand("help", "print the help of a command, as its --help does");
  const auto name = std::make_shared<std::string>();
  command.AddFlag({.names = "COMMAND",
                   .help = "of which command (default: of the program)",
                   .placeholder = kCommandPlaceholder},
                  name.get());
  command.SetFooter("Examples:\n  grapevine help train");
  command.OnChosen([name, &line] {
    if (!name->empty()) RETURN_IF_ERROR(line.CheckCommand(*name));
    std::cout << line.Help(*name);
    return absl::OkStatus();
  });
}

}  // namespace grapevine
