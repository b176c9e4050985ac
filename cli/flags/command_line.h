// A program's command line: commands, their flags, and uniform error messages.
//
// CLI11 does the parsing. Its header takes ten seconds to compile, so only command_line.cc
// includes it.
//
//   CommandLine line("grapevine", "Decentralized gossip SGD");
//   Command eval = line.AddCommand("eval", "loss and accuracy of a model file");
//   eval.AddFlag({.names = "--data", .help = "data set", .placeholder = "SPEC"}, &data);
//   eval.OnChosen([&] { return Evaluate(data); });
//   return line.Run(argc, argv);
//
// Not thread-safe; declare everything, then Run once.
#ifndef GRAPEVINE_CLI_FLAGS_COMMAND_LINE_H_
#define GRAPEVINE_CLI_FLAGS_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/registry.h"
#include "cli/flags/command_description.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace grapevine {

struct FlagText {
  std::string names;  // "-n,--nodes"; "RUN" for an argument without a flag; "--x,!--no-x"
  std::string help;
  std::string placeholder = "";  // "N", in the help; none for a switch
  std::string group = "";        // heading in the help; empty: "Options"
  // What a value may be or begin with ("ring", "file:PATH"), for completion; Flag::OneOf sets it.
  std::vector<std::string> words = {};
  // Other names ("--learning-rate"), which other programs or commands use: accepted, and shown
  // nowhere.
  std::vector<std::string> aliases = {};
  // FlagDescription has what these are.
  bool rare = false;
  std::string brief = "";
  std::vector<Listing> choices = {};
};

// The placeholder of an argument that names a command of the program; its words are all commands.
inline constexpr char kCommandPlaceholder[] = "COMMAND";

// What was declared of each flag, for what CLI11 does not know.
using FlagTexts = std::map<const CLI::Option*, FlagText>;

// A declared flag. A value, valid as long as its CommandLine.
class Flag {
 public:
  // Returns whether the flag was given. Only after parsing.
  bool given() const;
  // Returns the given values, as text and in order; "true" or "false" for a switch. Only after
  // parsing.
  std::vector<std::string> values() const;

  Flag& Required();
  Flag& OneOf(std::vector<std::string> values);
  Flag& Needs(const Flag& other);
  Flag& Excludes(const Flag& other);
  // Sets what the help shows as the value of a flag that is not given.
  Flag& ShowDefault(const std::string& text);

 private:
  friend class Command;
  Flag(CLI::Option* option, FlagTexts* texts) : option_(option), texts_(texts) {}

  CLI::Option* option_;
  FlagTexts* texts_;
};

// The variable that takes a flag's value. Its value before parsing is the default.
using FlagTarget =
    std::variant<std::string*, std::vector<std::string>*, int32_t*, int64_t*, uint64_t*>;

// A declared command. A value, valid as long as its CommandLine.
class Command {
 public:
  // Declares a flag with a value. If the flag is repeated, all values count if `target` is a
  // vector; otherwise the repetition is refused.
  Flag AddFlag(const FlagText& text, FlagTarget target);
  // Declares a flag with a value that is read with Flag::values(). If the flag is repeated, all
  // values count if `repeated`, else the last.
  Flag AddText(const FlagText& text, bool repeated);
  // Declares a flag without a value, read with Flag::given(), or with Flag::values() if it can be
  // negated.
  Flag AddSwitch(const FlagText& text);

  // Leaves the command out of the program's help: no person types it.
  void Hide();
  // Sets the end of the help: examples.
  void SetFooter(const std::string& text);
  // Runs `body` when this command is chosen. Its error is printed after the command's name, and
  // the error's class (base/status.h) is the exit code.
  void OnChosen(std::function<absl::Status()> body);

 private:
  friend class CommandLine;
  Command(CLI::App* app, FlagTexts* texts, int* exit_code)
      : app_(app), texts_(texts), exit_code_(exit_code) {}
  Flag Declared(CLI::Option* option, const FlagText& text);

  CLI::App* app_;
  FlagTexts* texts_;
  int* exit_code_;
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command AddCommand(const std::string& name, const std::string& description);
  // Sets the end of the program's help.
  void SetFooter(const std::string& text);
  // Sets the line that --version prints.
  void SetVersion(const std::string& line);

  // Returns everything that was declared, in the order of the help.
  CommandDescription Describe() const;

  // Returns kUsage, with the nearest command, unless a command is called `name`.
  absl::Status CheckCommand(const std::string& name) const;
  // Returns the help of the command `name`, or of the program if `name` is empty. `topic` is "" for
  // what most people use, "all", or a flag with or without its dashes, which is then described
  // alone. kUsage, with the nearest flag, if there is none of this name.
  absl::StatusOr<std::string> Help(const std::string& name, const std::string& topic = "") const;

  // Parses the arguments and runs the command. Answers an unknown flag with the commands that have
  // it, else with the nearest flag; an unknown command with the nearest command; no arguments with
  // the help. Refuses a flag that lacks its value (`--out=`), which never swallows the next flag.
  // `-n=4` is `-n 4`. Answers `--help` and `--help=TOPIC` as Help does. Returns the exit code of
  // the process; failing to write standard output is a failure.
  int Run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  FlagTexts texts_;
  int exit_code_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_COMMAND_LINE_H_
