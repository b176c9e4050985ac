#include "cli/command_line.h"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/nearest_name.h"
#include "run/failure.h"

namespace grapevine {
namespace {

// "grapevine train"
std::string FullName(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? "grapevine"
             : absl::StrCat(FullName(*command.get_parent()), " ", command.get_name());
}

// The innermost command that was named.
const CLI::App& Chosen(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : Chosen(*commands.back());
}

std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::string DescribeUnknown(const CLI::App& command, const std::string& argument) {
  const bool flag = argument.starts_with('-');
  const std::string name = argument.substr(0, argument.find('='));
  const std::vector<std::string> known = flag ? FlagNames(command) : CommandNames(command);
  const char* what = flag ? "flag" : known.empty() ? "argument" : "command";
  const std::string nearest = NearestName(name, known);
  return absl::StrCat("unknown ", what, " ", name, "; ",
                      nearest.empty() ? absl::StrCat("see ", FullName(command), " --help")
                                      : absl::StrCat("did you mean ", nearest, "?"));
}

// What is left over explains more than what is missing because of it.
absl::Status UsageError(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = command.remaining();
  return WithFailure(
      absl::InvalidArgumentError(
          unknown.empty() ? absl::StrCat(error.what(), "; see ", FullName(command), " --help")
                          : DescribeUnknown(command, unknown.front())),
      Failure::kUsage);
}

}  // namespace

int ReportFailure(const CLI::App& command, const absl::Status& status) {
  std::cerr << FullName(command) << ": " << status.message() << std::endl;
  return ExitCode(status);
}

void OnChosen(CLI::App& command, int& exit_code, std::function<absl::Status()> body) {
  command.callback([&command, &exit_code, body = std::move(body)] {
    const absl::Status status = body();
    exit_code = status.ok() ? 0 : ReportFailure(command, status);
  });
}

int RunCommandLine(CLI::App& app, int argc, char** argv, const int& exit_code) {
  if (argc <= 1) {
    std::cerr << app.help() << "\n";
    return ReportFailure(
        app, WithFailure(absl::InvalidArgumentError("a command is missing"), Failure::kUsage));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version arrive as exceptions too.
    if (error.get_exit_code() == 0) return app.exit(error);
    const CLI::App& command = Chosen(app);
    return ReportFailure(command, UsageError(command, error));
  }
  return exit_code;
}

}  // namespace grapevine
