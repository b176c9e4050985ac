// What a command line offers, for those that render it: manual pages, completion in shells.
//
// Values; safe from any thread.
#ifndef GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_
#define GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_

#include <string>
#include <vector>

namespace grapevine {

// A flag, or an argument without one.
struct FlagDescription {
  // As they are typed: "-n", "--nodes"; of a switch that can be negated, "--norms", "--no-norms".
  // Of an argument its name: "RUN".
  std::vector<std::string> names;
  std::string placeholder;  // of the value: "FILE"; empty for a switch
  std::string help;
  std::string fallback;  // what counts where the flag is not given; may be empty
  std::string group;     // the heading in the help
  // What a value may be or begin with: "ring", "file:PATH"; empty where nobody can say.
  std::vector<std::string> words;
  bool required = false;
  bool repeated = false;
};

struct CommandDescription {
  std::string name;                    // "train"; of the program, "grapevine"
  std::string help;                    // one line
  std::vector<FlagDescription> flags;  // those of one group together, as in the help
  std::vector<FlagDescription> arguments;
  std::string footer;
  std::vector<CommandDescription> commands;  // of the program
};

// What completes a value: names of files, of folders, or neither.
enum class PathKind { kNone, kFile, kFolder };

// Of a placeholder: "FILE", "DIR". Of a word likewise, by what follows its last colon.
PathKind PathKindOf(const std::string& placeholder);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_COMMAND_DESCRIPTION_H_
