#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "node/launch/agent.h"
#include "run/records/revision.h"

namespace grapevine {

void AddAgentCommand(CommandLine& line) {
  Command command =
      line.AddCommand(kAgentCommand, "start nodes for a launcher on another host (not by hand)");
  command.Hide();
  command.SetFooter(
      "`grapevine train -H` starts this on every host, and tells it over its standard input what "
      "to do.\nIt ends, with all nodes that it has started, when that ends.");
  command.OnChosen(
      [] { return RunAgent({.build = absl::StrCat(Version(), " (", Revision(), ")")}); });
}

}  // namespace grapevine
