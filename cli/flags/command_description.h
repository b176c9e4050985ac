// A description of what a command line offers, for code that renders it as manual pages or as
// completion in shells.
//
// Values; safe from any thread.
#ifndef GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_
#define GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_

#include <string>
#include <vector>

#include "base/registry.h"

namespace grapevine {

// A flag, or an argument without a flag.
struct FlagDescription {
  // Names as they are typed: "-n", "--nodes"; "--norms", "--no-norms" for a switch that can be
  // negated. An argument has one name: "RUN".
  std::vector<std::string> names;
  std::string placeholder;  // stands for the value: "FILE"; empty for a switch
  std::string help;
  std::string fallback;  // the value if the flag is not given; may be empty
  std::string group;     // the heading in the help
  // What a value may be or begin with: "ring", "file:PATH"; empty if nobody can say.
  std::vector<std::string> words;
  bool required = false;
  bool repeated = false;
  // Whether the short help leaves the flag out.
  bool rare = false;
  std::string brief;             // the help as the short help has it, without the choices
  std::vector<Listing> choices;  // what is registered for the value
};

struct CommandDescription {
  std::string name;                    // "train"; "grapevine" for the program
  std::string help;                    // one line
  std::vector<FlagDescription> flags;  // those of one group together, as in the help
  std::vector<FlagDescription> arguments;
  std::string footer;
  std::vector<CommandDescription> commands;  // commands of the program
};

// What completes a value: names of files, of folders, or neither.
enum class PathKind { kNone, kFile, kFolder };

// Returns what completes a value with this placeholder ("FILE", "DIR"), or a word ("file:PATH"), in
// which only what follows the last colon counts.
PathKind PathKindOf(const std::string& placeholder);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_
