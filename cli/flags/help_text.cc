#include "cli/flags/help_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace grapevine {
namespace {

constexpr size_t kColumns = 98;
constexpr size_t kTextColumn = 30;  // where the texts beside flags and commands begin
// The most flags of a command whose short help is all of it.
constexpr size_t kFew = 40;

// Breaks a text between words, and indents all lines but the first.
std::string Wrap(const std::string& text, size_t indent) {
  std::string wrapped;
  size_t column = indent;
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (const std::string& word : words) {
    if (column > indent && column + 1 + word.size() > kColumns) {
      absl::StrAppend(&wrapped, "\n", std::string(indent, ' '));
      column = indent;
    }
    if (column > indent) wrapped += ' ';
    column += (column > indent) + word.size();
    wrapped += word;
  }
  return wrapped;
}

std::string Row(const std::string& left, const std::string& text) {
  const std::string margin = absl::StrCat("  ", left);
  const std::string gap = margin.size() < kTextColumn
                              ? std::string(kTextColumn - margin.size(), ' ')
                              : absl::StrCat("\n", std::string(kTextColumn, ' '));
  return absl::StrCat(margin, gap, Wrap(text, kTextColumn), "\n");
}

// Returns "-n,--nodes N", as the flag is typed.
std::string Typed(const FlagDescription& flag) {
  return absl::StrCat(absl::StrJoin(flag.names, ","), flag.placeholder.empty() ? "" : " ",
                      flag.placeholder);
}

std::string ShortHelp(const FlagDescription& flag) {
  if (flag.brief.empty()) return flag.help;
  if (flag.choices.empty()) return flag.brief;
  return absl::StrCat(flag.brief, ": ", absl::StrJoin(flag.words, ", "));
}

std::string FlagRow(const FlagDescription& flag, HelpExtent extent) {
  return Row(Typed(flag),
             absl::StrCat(extent == HelpExtent::kAll ? flag.help : ShortHelp(flag),
                          flag.fallback.empty() ? "" : " [", flag.fallback,
                          flag.fallback.empty() ? "" : "]", flag.required ? " (required)" : ""));
}

// Returns the flags under their headings.
std::string FlagRows(const std::vector<FlagDescription>& flags, HelpExtent extent) {
  std::string text;
  std::string group;
  for (const FlagDescription& flag : flags) {
    if (flag.group != group) absl::StrAppend(&text, "\n", flag.group, ":\n");
    group = flag.group;
    text += FlagRow(flag, extent);
  }
  return text;
}

std::string UsageLine(const CommandDescription& command, const std::string& name) {
  std::string usage = absl::StrCat("Usage: ", name, " [OPTIONS]");
  for (const FlagDescription& argument : command.arguments) {
    const std::string typed = absl::StrCat(argument.names.front(), argument.repeated ? "..." : "");
    absl::StrAppend(&usage, " ", argument.required ? typed : absl::StrCat("[", typed, "]"));
  }
  return absl::StrCat(usage, command.commands.empty() ? "" : " COMMAND", "\n");
}

// Returns where the rest of the flags is, with a flag of the command that has choices as an
// example.
std::string MoreText(size_t more, const std::vector<FlagDescription>& flags) {
  std::string text =
      absl::StrCat("\nMore:\n", Row("--help=all", absl::StrCat(more, " more settings")));
  for (const FlagDescription& flag : flags) {
    if (flag.choices.empty()) continue;
    const std::string name = flag.names.back();
    return text + Row(absl::StrCat("--help=", name.substr(name.find_first_not_of('-'))),
                      absl::StrCat("everything about one setting, here ", name));
  }
  return text;
}

}  // namespace

std::string HelpText(const CommandDescription& command, const std::string& name,
                     HelpExtent extent) {
  std::vector<FlagDescription> flags = command.flags;
  size_t more = 0;
  if (flags.size() <= kFew) extent = HelpExtent::kAll;
  if (extent == HelpExtent::kShort) {
    more = std::erase_if(flags, [](const FlagDescription& flag) { return flag.rare; });
  }
  std::string text = absl::StrCat(command.help, "\n", UsageLine(command, name));
  if (!command.arguments.empty()) text += "\nArguments:\n";
  for (const FlagDescription& argument : command.arguments) text += FlagRow(argument, extent);
  text += FlagRows(flags, extent);
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandDescription& inner : command.commands) text += Row(inner.name, inner.help);
  if (more > 0) text += MoreText(more, flags);
  if (!command.footer.empty()) absl::StrAppend(&text, "\n", command.footer, "\n");
  return text;
}

std::string FlagHelpText(const FlagDescription& flag, const std::string& name) {
  std::string text = absl::StrCat(name, " ", Typed(flag), "\n  ",
                                  Wrap(flag.choices.empty() ? flag.help : flag.brief, 2), "\n");
  if (!flag.fallback.empty()) absl::StrAppend(&text, "  default: ", flag.fallback, "\n");
  for (const Listing& choice : flag.choices) {
    absl::StrAppend(&text, "\n  ", choice.usage(), "\n      ", Wrap(choice.help, 6), "\n");
  }
  return text;
}

}  // namespace grapevine
