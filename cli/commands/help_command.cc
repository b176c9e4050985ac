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
  const auto topic = std::make_shared<std::string>();
  command.AddFlag({.names = "TOPIC",
                   .help = "all: every flag; or one of them, which is then described alone",
                   .placeholder = "FLAG"},
                  topic.get());
  command.SetFooter(
      "Examples:\n  grapevine help train\n  grapevine help train all\n"
      "  grapevine help sim algorithm");
  command.OnChosen([name, topic, &line]() -> absl::Status {
    if (!name->empty()) RETURN_IF_ERROR(line.CheckCommand(*name));
    ASSIGN_OR_RETURN(const std::string help, line.Help(*name, *topic));
    std::cout << help;
    return absl::OkStatus();
  });
}

}  // namespace grapevine
