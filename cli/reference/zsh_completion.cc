#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/reference/shell_completion.h"

namespace grapevine {
namespace {

// The function that does not depend on the commands; PROGRAM stands for the program's name.
constexpr char kZshWords[] = R"ZSH(
# words WORD...: one of them. One that ends in :PATH, :FILE or :DIR is continued by a path, and
# another in capitals by something that only the user knows. Of a list "a,b" the last element is
# completed.
_PROGRAM_words() {
  local word head
  local -a whole begun
  compset -P '*,'
  for word; do
    head=${word%%:[A-Z]*}
    if [[ $head == $word ]]; then whole+=($word); continue; fi
    if compset -P "$head:"; then
      case $word in
        *:(PATH|FILE)) _files ;;
        *:DIR) _files -/ ;;
      esac
      return
    fi
    begun+=($head:)
  done
  (( $#whole )) && compadd -a whole
  (( $#begun )) && compadd -S '' -a begun
}
)ZSH";

constexpr char kZshEnd[] = R"ZSH(
# Autoloaded from $fpath, or sourced.
if [[ $funcstack[1] == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
)ZSH";

std::string ZshQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Returns the help up to where it goes into details, which the manual has.
std::string FirstClause(const std::string& help) {
  size_t end = help.size();
  for (const char* separator : {": ", "; ", " ("}) end = std::min(end, help.find(separator));
  return help.substr(0, end);
}

// Returns the ":MESSAGE:ACTION" of a specification for _arguments.
std::string ZshValue(const FlagDescription& flag) {
  std::string action;
  switch (PathKindOf(flag.placeholder)) {
    case PathKind::kFile:
      action = "_files";
      break;
    case PathKind::kFolder:
      action = "_files -/";
      break;
    case PathKind::kNone:
      action = " ";
  }
  if (!flag.words.empty()) {
    std::vector<std::string> words = {"_PROGRAM_words"};
    for (const std::string& word : flag.words) words.push_back(word);
    action = absl::StrJoin(words, " ");
  }
  const auto escaped = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{":", "\\:"}});
  };
  return absl::StrCat(":", escaped(flag.placeholder), ":", escaped(action));
}

// Returns a line for _arguments for each name. Only one of the names may be given, unless the flag
// may be repeated.
std::string ZshFlag(const FlagDescription& flag) {
  const std::string help =
      absl::StrReplaceAll(FirstClause(flag.help), {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}});
  std::string lines;
  for (const std::string& name : flag.names) {
    std::string spec = flag.repeated ? "*" : absl::StrCat("(", absl::StrJoin(flag.names, " "), ")");
    spec += name;
    if (!flag.placeholder.empty()) spec += name.starts_with("--") ? "=" : "+";
    absl::StrAppend(&spec, "[", help, "]");
    if (!flag.placeholder.empty()) spec += ZshValue(flag);
    absl::StrAppend(&lines, " \\\n        ", ZshQuoted(spec));
  }
  return lines;
}

std::string ZshCommand(const CommandDescription& command) {
  std::string flags;
  for (const FlagDescription& flag : command.flags) flags += ZshFlag(flag);
  for (const FlagDescription& argument : command.arguments) {
    absl::StrAppend(&flags, " \\\n        ",
                    ZshQuoted(absl::StrCat(argument.repeated ? "*" : "1", ZshValue(argument))));
  }
  return absl::StrCat("    ", command.name, ")\n      _arguments", flags, "\n      ;;\n");
}

}  // namespace

std::string ZshCompletion(const CommandDescription& program) {
  std::string names, commands, flags;
  for (const CommandDescription& command : program.commands) {
    const std::string help = absl::StrReplaceAll(command.help, {{":", "\\:"}});
    absl::StrAppend(&names, "    ", ZshQuoted(absl::StrCat(command.name, ":", help)), "\n");
    commands += ZshCommand(command);
  }
  for (const FlagDescription& flag : program.flags) flags += ZshFlag(flag);
  const std::string script = absl::StrCat(
      "#compdef PROGRAM\n# zsh completion of PROGRAM, made by `PROGRAM completion zsh`.\n",
      kZshWords, "\n_PROGRAM() {\n  local curcontext=$curcontext state line\n",
      "  typeset -A opt_args\n  local -a commands=(\n", names, "  )\n  _arguments -C", flags,
      " \\\n        '1:command:->command' '*::arguments:->arguments'\n  case $state in\n",
      "    command) _describe command commands; return ;;\n    arguments) ;;\n    *) return ;;\n",
      "  esac\n  curcontext=${curcontext%:*}-$words[1]:\n  case $words[1] in\n", commands,
      "  esac\n}\n", kZshEnd);
  return absl::StrReplaceAll(script, {{"PROGRAM", program.name}});
}

}  // namespace grapevine
