#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/commands/commands.h"
#include "cli/reference/shell_completion.h"

namespace grapevine {
namespace {

constexpr char kCompletionFooter[] =
    "Setting it up by hand:\n"
    "  source <(grapevine completion bash)                     # in ~/.bashrc\n"
    "  source <(grapevine completion zsh)                      # in ~/.zshrc, after compinit\n"
    "  grapevine completion zsh > ~/.zfunc/_grapevine          # a folder of $fpath";

}  // namespace

void AddCompletionCommand(CommandLine& line) {
  Command command =
      line.AddCommand("completion", "print a script that completes commands in a shell");
  const auto shell = std::make_shared<std::string>();
  command.AddFlag({.names = "SHELL", .help = "bash or zsh", .placeholder = "SHELL"}, shell.get())
      .Required()
      .OneOf({"bash", "zsh"});
  command.SetFooter(kCompletionFooter);
  command.OnChosen([shell, &line] {
    const CommandDescription program = line.Describe();
    std::cout << (*shell == "bash" ? BashCompletion(program) : ZshCompletion(program));
    return absl::OkStatus();
  });
}

}  // namespace grapevine
