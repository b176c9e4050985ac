#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/reference/shell_completion.h"

namespace grapevine {
namespace {

// The functions that do not depend on the commands; PROGRAM stands for the program's name.
constexpr char kBashFunctions[] = R"BASH(
# paths -f|-d PREFIX VALUE: the files, or folders, that VALUE begins, with PREFIX before each.
_PROGRAM_paths() {
  compopt -o filenames 2>/dev/null
  local path
  while IFS= read -r path; do
    if [ -d "$path" ]; then path+=/; compopt -o nospace 2>/dev/null; fi
    COMPREPLY+=("$2$path")
  done < <(compgen "$1" -- "$3")
}

# words VALUE WORD...: the words that VALUE begins. One that ends in :PATH, :FILE or :DIR is
# continued by a path, and another in capitals by something that only the user knows. Of a list
# "a,b" the last element is completed.
_PROGRAM_words() {
  local value=$1 list= word head
  shift
  if [[ $value == *,* ]]; then list=${value%,*}, value=${value##*,}; fi
  for word; do
    head=${word%%:[A-Z]*}
    [ "$head" = "$word" ] || head+=:
    if [ "$head" != "$word" ] && [[ $value == "$head"* ]]; then
      case $word in
        *:PATH | *:FILE) _PROGRAM_paths -f "$list$head" "${value#"$head"}" ;;
        *:DIR) _PROGRAM_paths -d "$list$head" "${value#"$head"}" ;;
      esac
    elif [[ $head == "$value"* ]]; then
      [ "$head" = "$word" ] || compopt -o nospace 2>/dev/null
      COMPREPLY+=("$list$head")
    fi
  done
}

_PROGRAM() {
  # As the user typed it: Readline breaks words at = and :, too.
  local -a words
  local line=${COMP_LINE:0:COMP_POINT} current= previous= command= i
  read -a words <<<"$line"
  case $line in
    *[[:space:]]) previous=${words[-1]} ;;
    *)
      current=${words[-1]}
      [ ${#words[@]} -lt 2 ] || previous=${words[-2]}
      unset 'words[-1]'
      ;;
  esac
  for ((i = 1; i < ${#words[@]}; i++)); do
    case ${words[i]} in -*) ;; *) command=${words[i]}; break ;; esac
  done
  COMPREPLY=()
  local flag=
  case $current in
    --*=*) flag=${current%%=*} ;;
    *) case $previous in -*=*) ;; -*) flag=$previous ;; esac ;;
  esac
  if [ -z "$flag" ] || ! _PROGRAM_value "$command" "$flag" "${current#"$flag="}"; then
    case $current in
      -*)
        mapfile -t COMPREPLY < <(compgen -W "$(_PROGRAM_flags "$command")" -- "$current")
        case ${COMPREPLY[0]-} in *=) [ ${#COMPREPLY[@]} -ne 1 ] || compopt -o nospace 2>/dev/null ;; esac
        ;;
      *) _PROGRAM_value "$command" "" "$current" ;;
    esac
  elif [[ $current == "$flag="* ]]; then
    COMPREPLY=("${COMPREPLY[@]/#/$flag=}")
  fi
  # Readline replaces what follows the last character at which it breaks words.
  local breaks=${COMP_WORDBREAKS//[^=:]/} kept=
  [ -z "$breaks" ] || kept=${current%"${current##*["$breaks"]}"}
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _PROGRAM PROGRAM
)BASH";

// Quotes `text` as one word of a script.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Returns what completes a value; empty if nothing does.
std::string BashAction(const FlagDescription& flag) {
  if (!flag.words.empty()) {
    std::vector<std::string> words;
    for (const std::string& word : flag.words) words.push_back(Quoted(word));
    return absl::StrCat("_PROGRAM_words \"$3\" ", absl::StrJoin(words, " "));
  }
  switch (PathKindOf(flag.placeholder)) {
    case PathKind::kFile:
      return "_PROGRAM_paths -f '' \"$3\"";
    case PathKind::kFolder:
      return "_PROGRAM_paths -d '' \"$3\"";
    case PathKind::kNone:
      return "";
  }
  return "";
}

// Returns a case with a pattern for each name, such as 'train --out'.
std::string BashValueCase(const std::string& command, const std::vector<std::string>& names,
                          const std::string& action) {
  std::vector<std::string> patterns;
  for (const std::string& name : names)
    patterns.push_back(Quoted(absl::StrCat(command, " ", name)));
  return absl::StrCat("    ", absl::StrJoin(patterns, " | "), ") ", action.empty() ? ":" : action,
                      " ;;\n");
}

std::string BashValueCases(const std::string& name, const CommandDescription& command) {
  std::string cases;
  for (const FlagDescription& flag : command.flags) {
    if (!flag.placeholder.empty()) cases += BashValueCase(name, flag.names, BashAction(flag));
  }
  if (!command.arguments.empty()) {
    cases += BashValueCase(name, {""}, BashAction(command.arguments.front()));
  }
  return cases;
}

// Returns the flags with which a command can be continued: a value follows "--out=", or "-n" and a
// blank.
std::string BashFlagsCase(const std::string& name, const CommandDescription& command) {
  std::vector<std::string> flags;
  for (const FlagDescription& flag : command.flags) {
    for (const std::string& typed : flag.names) {
      flags.push_back(typed + (!flag.placeholder.empty() && typed.starts_with("--") ? "=" : ""));
    }
  }
  return absl::StrCat("    ", Quoted(name), ") echo ", Quoted(absl::StrJoin(flags, " ")), " ;;\n");
}

FlagDescription CommandAsArgument(const CommandDescription& program) {
  FlagDescription argument;
  for (const CommandDescription& command : program.commands) {
    argument.words.push_back(command.name);
  }
  return argument;
}

}  // namespace

std::string BashCompletion(const CommandDescription& program) {
  CommandDescription itself = program;
  itself.arguments = {CommandAsArgument(program)};
  std::string flags = BashFlagsCase("", itself);
  std::string values = BashValueCases("", itself);
  for (const CommandDescription& command : program.commands) {
    flags += BashFlagsCase(command.name, command);
    values += BashValueCases(command.name, command);
  }
  const std::string script =
      absl::StrCat("# bash completion of PROGRAM, made by `PROGRAM completion bash`.\n\n",
                   "# flags COMMAND: its flags; those that take a value end in =.\n",
                   "_PROGRAM_flags() {\n  case $1 in\n", flags, "  esac\n}\n\n",
                   "# value COMMAND FLAG VALUE: completes the value of a flag (none: of an "
                   "argument), or fails\n",
                   "# where the flag takes none.\n", "_PROGRAM_value() {\n  case \"$1 $2\" in\n",
                   values, "    *) return 1 ;;\n  esac\n}\n", kBashFunctions);
  return absl::StrReplaceAll(script, {{"PROGRAM", program.name}});
}

}  // namespace grapevine
