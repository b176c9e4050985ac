#include "cli/reference/manual_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace grapevine {
namespace {

// Escapes what troff would take for something else. A minus is no hyphen, so that flags can be
// copied.
std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\e"},
                                    {"-", "\\-"},
                                    {"'", "\\(aq"},
                                    {"`", "\\(ga"},
                                    {"^", "\\(ha"},
                                    {"~", "\\(ti"}});
}

// Returns a line of text; a line that begins with a dot would be a request.
std::string Line(const std::string& text) {
  return absl::StrCat(text.starts_with('.') ? "\\&" : "", text, "\n");
}

// Lets specs, which may be longer than a line, be broken before an option.
std::string Breakable(const std::string& word) {
  constexpr size_t kLong = 30;
  if (word.size() <= kLong) return word;
  return absl::StrReplaceAll(word, {{"[:", "\\:[:"}, {":", "\\::"}});
}

// Returns lines of at most 80 columns, as mandoc asks, of text that is filled anyway.
std::string Paragraph(const std::string& text) {
  constexpr size_t kColumns = 80;
  const std::vector<std::string> words = absl::StrSplit(Escaped(text), ' ', absl::SkipEmpty());
  std::string paragraph, line;
  for (const std::string& whole : words) {
    const std::string word = Breakable(whole);
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      paragraph += Line(line);
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return line.empty() ? paragraph : paragraph + Line(line);
}

std::string Bold(const std::string& text) { return absl::StrCat("\\fB", Escaped(text), "\\fR"); }
std::string Italic(const std::string& text) { return absl::StrCat("\\fI", Escaped(text), "\\fR"); }

std::string Heading(const std::string& title) {
  return absl::StrCat(".SH ", absl::AsciiStrToUpper(title), "\n");
}

// Returns "-n, --nodes=N", "RUN...".
std::string Typed(const FlagDescription& flag, bool argument) {
  const std::string many = argument && flag.repeated ? "..." : "";
  if (argument) return Italic(flag.names.front()) + many;
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back(Bold(name));
  std::string typed = absl::StrJoin(names, ", ");
  if (flag.placeholder.empty()) return typed;
  return absl::StrCat(typed, flag.names.back().starts_with("--") ? "=" : " ",
                      Italic(flag.placeholder));
}

std::string Entry(const FlagDescription& flag, bool argument) {
  std::string help = flag.help;
  if (!flag.fallback.empty()) absl::StrAppend(&help, " [", flag.fallback, "]");
  if (!argument && flag.required) help += " (required)";
  return absl::StrCat(".TP\n", Line(Typed(flag, argument)), Paragraph(help));
}

std::string Entries(const std::vector<FlagDescription>& flags) {
  std::string text = Heading("Options");
  std::string group = "Options";
  for (const FlagDescription& flag : flags) {
    if (flag.group != group) absl::StrAppend(&text, ".SS ", Escaped(flag.group), "\n");
    group = flag.group;
    text += Entry(flag, /*argument=*/false);
  }
  return text;
}

std::string Arguments(const std::vector<FlagDescription>& arguments) {
  if (arguments.empty()) return "";
  std::string text = Heading("Arguments");
  for (const FlagDescription& argument : arguments) text += Entry(argument, /*argument=*/true);
  return text;
}

std::string Synopsis(const std::string& typed, const CommandDescription& command) {
  std::vector<std::string> parts = {Bold(typed), absl::StrCat("[", Italic("OPTIONS"), "]")};
  if (!command.commands.empty()) parts.push_back(Italic("COMMAND"));
  for (const FlagDescription& argument : command.arguments) {
    const std::string name = Typed(argument, /*argument=*/true);
    parts.push_back(argument.required ? name : absl::StrCat("[", name, "]"));
  }
  return Heading("Synopsis") + Line(absl::StrJoin(parts, " "));
}

// Returns the lines as they are, unfilled.
std::string Verbatim(const std::vector<std::string>& lines) {
  std::string text = ".nf\n";
  for (const std::string& line : lines) text += Line(Escaped(line));
  return text + ".fi\n";
}

bool Indented(const std::string& line) { return line.starts_with(' '); }

// Returns the end of the help: headings ("Examples:") with indented lines, and paragraphs.
std::string Footer(const std::string& footer) {
  const std::vector<std::string> lines = absl::StrSplit(footer, '\n', absl::SkipEmpty());
  std::string text;
  std::vector<std::string> plain;
  for (size_t i = 0; i < lines.size();) {
    if (!lines[i].ends_with(':') || i + 1 == lines.size() || !Indented(lines[i + 1])) {
      plain.push_back(lines[i++]);
      continue;
    }
    text += Heading(lines[i].substr(0, lines[i].size() - 1));
    std::vector<std::string> indented;
    for (++i; i < lines.size() && Indented(lines[i]); ++i) indented.push_back(lines[i].substr(2));
    text += Verbatim(indented);
  }
  if (plain.empty()) return text;
  return absl::StrCat(Heading("Notes"), Paragraph(absl::StrJoin(plain, " ")), text);
}

std::string Title(const std::string& name, const ManualEdition& edition) {
  // Specs are long words: lines are not spread to the right margin.
  return absl::StrFormat(".TH %s 1 \"%s\" \"Grapevine %s\" \"User Commands\"\n.ad l\n.nh\n",
                         Escaped(absl::AsciiStrToUpper(name)), edition.date, edition.version);
}

std::string Name(const std::string& name, const std::string& help) {
  return absl::StrCat(Heading("Name"), Paragraph(absl::StrCat(name, " - ", help)));
}

// Returns "grapevine(1), grapevine-sim(1)", without the page itself.
std::string SeeAlso(const std::vector<std::string>& names, const std::string& self) {
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (name != self) others.push_back(absl::StrCat(".BR ", Escaped(name), " (1)"));
  }
  return absl::StrCat(Heading("See also"), absl::StrJoin(others, " ,\n"), "\n");
}

std::string Commands(const CommandDescription& program) {
  std::string text = Heading("Commands");
  for (const CommandDescription& command : program.commands) {
    absl::StrAppend(&text, ".TP\n.BR ", Escaped(absl::StrCat(program.name, "-", command.name)),
                    " (1)\n", Paragraph(command.help));
  }
  return text;
}

}  // namespace

std::vector<ManualPage> ManualPages(const CommandDescription& program,
                                    const ManualEdition& edition) {
  std::vector<std::string> names = {program.name};
  for (const CommandDescription& command : program.commands) {
    names.push_back(absl::StrCat(program.name, "-", command.name));
  }
  std::vector<ManualPage> pages = {
      {names.front(),
       absl::StrCat(Title(program.name, edition), Name(program.name, program.help),
                    Synopsis(program.name, program), Commands(program), Entries(program.flags),
                    Footer(program.footer), SeeAlso(names, program.name))}};
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const CommandDescription& command = program.commands[i];
    const std::string& name = names[i + 1];
    pages.push_back(
        {name, absl::StrCat(Title(name, edition), Name(name, command.help),
                            Synopsis(absl::StrCat(program.name, " ", command.name), command),
                            Arguments(command.arguments), Entries(command.flags),
                            Footer(command.footer), SeeAlso(names, name))});
  }
  return pages;
}

}  // namespace grapevine
