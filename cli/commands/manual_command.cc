#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/registry.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/reference/manual_page.h"
#include "cli/reference/reference_json.h"
#include "experiment/core/spec_help.h"
#include "run/records/output_file.h"
#include "run/records/revision.h"

namespace grapevine {
namespace {

constexpr char kManualExamples[] =
    "Examples:\n"
    "  grapevine manual train | man -l -\n"
    "  grapevine manual --all=share/man/man1\n"
    "  grapevine manual --json | jq '.registered.topology[].name'";

struct ManualOptions {
  std::string command;
  std::string folder;  // takes the pages of all commands; empty: print one
};

absl::Status WritePages(const std::vector<ManualPage>& pages, const std::string& folder) {
  RETURN_IF_ERROR(CreateFolders(folder));
  for (const ManualPage& page : pages) {
    RETURN_IF_ERROR(WriteOutputFile(absl::StrCat(folder, "/", page.name, ".1"), page.text));
  }
  return absl::OkStatus();
}

// Prints the page of a command; nothing for a command that no person types.
void PrintPage(const std::vector<ManualPage>& pages, const std::string& name) {
  for (const ManualPage& page : pages) {
    if (page.name == name) std::cout << page.text;
  }
}

std::string AllAsJson(const CommandDescription& program) {
  std::map<std::string, std::vector<Listing>> registered;
  for (const std::string& field : SettingsWithSpecs()) registered[field] = Registered(field);
  return ReferenceJson(program, registered);
}

}  // namespace

void AddManualCommand(CommandLine& line) {
  Command command = line.AddCommand("manual", "print the manual page of a command, or write all");
  const auto options = std::make_shared<ManualOptions>();
  const Flag all = command.AddFlag({.names = "--all",
                                    .help = "write the pages of all commands into this folder",
                                    .placeholder = "DIR"},
                                   &options->folder);
  Flag json = command.AddSwitch(
      {.names = "--json",
       .help =
           "print one JSON object: all commands, and all that is registered (topologies, ...)"});
  json.Excludes(all);
  command
      .AddFlag({.names = "COMMAND",
                .help = "of which command (default: of the program)",
                .placeholder = kCommandPlaceholder},
               &options->command)
      .Excludes(all)
      .Excludes(json);
  command.SetFooter(kManualExamples);
  command.OnChosen([options, json, &line] {
    const CommandDescription program = line.Describe();
    if (json.given()) {
      std::cout << AllAsJson(program) << std::endl;
      return absl::OkStatus();
    }
    const std::vector<ManualPage> pages =
        ManualPages(program, {.version = Version(), .date = RevisionDate()});
    if (!options->folder.empty()) return WritePages(pages, options->folder);
    const std::string& name = options->command;
    if (!name.empty()) RETURN_IF_ERROR(line.CheckCommand(name));
    PrintPage(pages, name.empty() ? program.name : absl::StrCat(program.name, "-", name));
    return absl::OkStatus();
  });
}

}  // namespace grapevine
