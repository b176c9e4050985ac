#include "cli/flags/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/registry.h"
#include "base/status.h"
#include "cli/flags/help_text.h"
#include "cli/terminal/text_output.h"

namespace grapevine {
namespace {

FlagText TextOf(const CLI::Option& option, const FlagTexts& texts) {
  const auto known = texts.find(&option);
  return known == texts.end() ? FlagText() : known->second;
}

// Returns "-n", "--nodes".
std::vector<std::string> AllNames(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// Returns the names that are shown; a name that negates comes last.
std::vector<std::string> TypedNames(const CLI::Option& option, const FlagTexts& texts) {
  if (!option.nonpositional()) return {option.get_single_name()};
  std::vector<std::string> names = AllNames(option);
  const FlagText own = TextOf(option, texts);
  std::erase_if(names, [&own](const std::string& name) {
    return std::ranges::find(own.aliases, name) != own.aliases.end();
  });
  return names;
}

// Returns the placeholder without the list that a check appends ("AXIS:{x,y}"), and without the
// "..." of several values.
std::string Placeholder(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  const std::string type = option.get_type_name();
  return absl::StrReplaceAll(type.substr(0, type.find(":{")), {{"...", ""}});
}

// Returns "grapevine train".
std::string FullName(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? "grapevine"
             : absl::StrCat(FullName(*command.get_parent()), " ", command.get_name());
}

// Returns the innermost command that was named.
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

std::string SeeHelp(const CLI::App& command) {
  return absl::StrCat("; see ", FullName(command), " --help");
}

std::string OrNearest(const CLI::App& command, const std::string& name,
                      const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return nearest.empty() ? SeeHelp(command) : absl::StrCat("; did you mean ", nearest, "?");
}

// Returns the commands beside `command` that have the flag `name`.
std::vector<std::string> OwnersOf(const std::string& name, const CLI::App& command) {
  std::vector<std::string> owners;
  if (command.get_parent() == nullptr) return owners;
  for (const CLI::App* other : command.get_parent()->get_subcommands({})) {
    const bool hidden = other->get_group().empty();
    if (!hidden && other->get_option_no_throw(name) != nullptr) owners.push_back(FullName(*other));
  }
  return owners;
}

std::string DescribeUnknownFlag(const CLI::App& command, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  const std::vector<std::string> owners = OwnersOf(name, command);
  return absl::StrCat("unknown flag ", name,
                      owners.empty()
                          ? OrNearest(command, name, FlagNames(command))
                          : absl::StrCat("; it is a flag of ", absl::StrJoin(owners, ", ")));
}

std::string DescribeUnknown(const CLI::App& command, const std::string& argument) {
  if (argument.starts_with('-')) return DescribeUnknownFlag(command, argument);
  const std::vector<std::string> known = CommandNames(command);
  return absl::StrCat("unknown ", known.empty() ? "argument " : "command ", argument,
                      OrNearest(command, argument, known));
}

// Returns the error of a parse: an unknown argument explains more than what is missing because of
// it.
absl::Status Mistake(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = command.remaining();
  return UsageError(unknown.empty() ? error.what() + SeeHelp(command)
                                    : DescribeUnknown(command, unknown.front()));
}

// Refuses a flag as a value: CLI11 gives a flag without a value the next argument, whatever it is.
std::string CheckValue(const std::string& value) {
  if (!value.starts_with("--")) return "";
  return absl::StrCat("needs a value, and ", value, " is a flag");
}

// Returns an argument such as "--out=", which CLI11 takes for "--out", or "-o="; empty if no
// argument is of this kind.
std::string FlagWithEmptyValue(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument(argv[i]);
    if (argument == "--") break;
    if (argument.starts_with("-") && argument.find('=') == argument.size() - 1) return argument;
  }
  return "";
}

// Returns an argument such as "-nodes=4", where --nodes is meant and CLI11 reads -n of "odes=4";
// empty if no argument is of this kind.
std::string LongFlagWithOneSign(const CLI::App& command, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument(argv[i]);
    if (argument == "--") break;
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (name.size() > 2 && command.get_option_no_throw("-" + name) != nullptr) return argument;
  }
  return "";
}

// Returns the command that the first argument names, whose flags follow; else the program.
const CLI::App& NamedFirst(const CLI::App& app, int argc, char** argv) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (argc > 1 && command->get_name() == argv[1]) return *command;
  }
  return app;
}

// Returns whether `argument` is like "-n=4", with a flag of `command` that takes a value.
bool HasSignAfterLetter(const std::string& argument, const CLI::App& command) {
  if (argument.size() < 3 || argument[0] != '-' || argument[2] != '=') return false;
  const CLI::Option* option = command.get_option_no_throw(argument.substr(0, 2));
  return option != nullptr && option->get_expected_min() > 0;
}

// Returns the arguments without the "=" of "-n=4", which CLI11 takes for a part of the value.
std::vector<std::string> Arguments(const CLI::App& command, int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (HasSignAfterLetter(argument, command)) argument.erase(2, 1);
  }
  return arguments;
}

// Prints "grapevine train: <message>" and returns the exit code.
int ReportFailure(const CLI::App& command, const absl::Status& status) {
  std::cerr << FullName(command) << ": " << PrintableLines(std::string(status.message()))
            << std::endl;
  return ExitCode(status);
}

// Returns the flags in the order of the help: "Options" comes first, then headings in the order of
// their first flag.
std::vector<const CLI::Option*> InOrderOfHelp(const CLI::App& command) {
  std::vector<const CLI::Option*> ordered;
  for (const std::string& group : command.get_groups()) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group() == group) ordered.push_back(option);
    }
  }
  return ordered;
}

FlagDescription DescribeFlag(const CLI::Option& option, const FlagTexts& texts) {
  const FlagText own = TextOf(option, texts);
  return {.names = TypedNames(option, texts),
          .placeholder = Placeholder(option),
          .help = option.get_description(),
          .fallback = option.get_default_str(),
          .group = option.get_group(),
          .words = own.words,
          .required = option.get_required(),
          .repeated = option.get_expected_max() > 1 ||
                      option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll,
          .rare = own.rare,
          .brief = own.brief,
          .choices = own.choices};
}

CommandDescription DescribeCommand(const CLI::App& command, const FlagTexts& texts) {
  CommandDescription description{.name = command.get_name(),
                                 .help = command.get_description(),
                                 .footer = command.get_footer()};
  for (const CLI::Option* option : InOrderOfHelp(command)) {
    (option->nonpositional() ? description.flags : description.arguments)
        .push_back(DescribeFlag(*option, texts));
  }
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    const bool hidden = subcommand->get_group().empty();
    if (!hidden) description.commands.push_back(DescribeCommand(*subcommand, texts));
  }
  return description;
}

// Returns "all" of an argument "--help=all"; empty if no argument is of this kind.
std::string HelpTopic(int argc, char** argv) {
  constexpr std::string_view kHelp = "--help=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == "--") break;
    if (argument.starts_with(kHelp)) return std::string(argument.substr(kHelp.size()));
  }
  return "";
}

// Returns the flag called `topic`, as a person may write it: "lr", "--lr", "eval_every"; null if
// there is none.
const CLI::Option* FindFlag(const CLI::App& command, const std::string& topic) {
  const std::string bare = topic.substr(std::min(topic.find_first_not_of('-'), topic.size()));
  const std::string name = absl::StrReplaceAll(bare, {{"_", "-"}});
  const CLI::Option* const flag = command.get_option_no_throw("--" + name);
  return flag != nullptr ? flag : command.get_option_no_throw("-" + name);
}

absl::StatusOr<std::string> HelpOn(const CLI::App& command, const std::string& topic,
                                   const FlagTexts& texts) {
  const std::string name = FullName(command);
  if (topic.empty() || topic == "all") {
    return HelpText(DescribeCommand(command, texts), name,
                    topic.empty() ? HelpExtent::kShort : HelpExtent::kAll);
  }
  if (const CLI::Option* const flag = FindFlag(command, topic)) {
    return FlagHelpText(DescribeFlag(*flag, texts), name);
  }
  const std::string typed = topic.starts_with('-') ? topic : "--" + topic;
  return UsageError(DescribeUnknownFlag(command, typed));
}

// Returns the exit code of a command that has printed all it had to.
int EndOfOutput(const CLI::App& command) {
  const absl::Status written = FlushStandardOutput();
  return written.ok() ? 0 : ReportFailure(command, written);
}

// Prints the help on a topic and returns the exit code.
int PrintHelp(const CLI::App& command, const std::string& topic, const FlagTexts& texts) {
  const absl::StatusOr<std::string> help = HelpOn(command, topic, texts);
  if (!help.ok()) return ReportFailure(command, help.status());
  std::cout << *help;
  return EndOfOutput(command);
}

}  // namespace

bool Flag::given() const { return !option_->empty(); }

std::vector<std::string> Flag::values() const { return option_->reduced_results(); }

Flag& Flag::Required() {
  option_->required();
  return *this;
}

Flag& Flag::OneOf(std::vector<std::string> values) {
  (*texts_)[option_].words = values;
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}

Flag& Flag::Needs(const Flag& other) {
  option_->needs(other.option_);
  return *this;
}

Flag& Flag::Excludes(const Flag& other) {
  option_->excludes(other.option_);
  return *this;
}

Flag& Flag::ShowDefault(const std::string& text) {
  option_->default_str(text);
  return *this;
}

// Sets what all flags have in common.
Flag Command::Declared(CLI::Option* option, const FlagText& text) {
  if (!text.placeholder.empty()) option->type_name(text.placeholder);
  if (!text.group.empty()) option->group(text.group);
  (*texts_)[option] = text;
  const bool takes_a_value = option->nonpositional() && option->get_expected_min() > 0;
  if (takes_a_value) option->check(CheckValue);
  return Flag(option, texts_);
}

namespace {

std::string NamesWithAliases(const FlagText& text) {
  return absl::StrCat(text.names, text.aliases.empty() ? "" : ",",
                      absl::StrJoin(text.aliases, ","));
}

}  // namespace

Flag Command::AddFlag(const FlagText& text, FlagTarget target) {
  return std::visit(
      [&]<typename T>(T* value) {
        CLI::Option* option = app_->add_option(NamesWithAliases(text), *value, text.help);
        if constexpr (!std::is_same_v<T, std::vector<std::string>>) option->capture_default_str();
        return Declared(option, text);
      },
      target);
}

Flag Command::AddText(const FlagText& text, bool repeated) {
  CLI::Option* option = app_->add_option(NamesWithAliases(text), CLI::callback_t(), text.help);
  return Declared(repeated ? option->take_all() : option->take_last(), text);
}

Flag Command::AddSwitch(const FlagText& text) {
  return Declared(app_->add_flag(NamesWithAliases(text))->description(text.help), text);
}

void Command::Hide() { app_->group(""); }

void Command::SetFooter(const std::string& text) { app_->footer(text); }

void Command::OnChosen(std::function<absl::Status()> body) {
  app_->callback([app = app_, exit_code = exit_code_, body = std::move(body)] {
    const absl::Status status = body();
    *exit_code = status.ok() ? 0 : ReportFailure(*app, status);
  });
}

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, program)) {
  app_->group("Commands")->require_subcommand(1);
  app_->set_help_flag("-h,--help", "print this help and exit");
}

CommandLine::~CommandLine() = default;

Command CommandLine::AddCommand(const std::string& name, const std::string& description) {
  return Command(app_->add_subcommand(name, description), &texts_, &exit_code_);
}

void CommandLine::SetFooter(const std::string& text) { app_->footer(text); }

void CommandLine::SetVersion(const std::string& line) {
  app_->set_version_flag("--version", line, "print the version and exit");
}

CommandDescription CommandLine::Describe() const {
  CommandDescription program = DescribeCommand(*app_, texts_);
  for (CommandDescription& command : program.commands) {
    for (FlagDescription& argument : command.arguments) {
      if (argument.placeholder == kCommandPlaceholder) argument.words = CommandNames(*app_);
    }
  }
  return program;
}

absl::Status CommandLine::CheckCommand(const std::string& name) const {
  const std::vector<std::string> known = CommandNames(*app_);
  const bool exists = std::ranges::find(known, name) != known.end();
  return exists ? absl::OkStatus() : UsageError(DescribeUnknown(*app_, name));
}

absl::StatusOr<std::string> CommandLine::Help(const std::string& name,
                                              const std::string& topic) const {
  return HelpOn(name.empty() ? *app_ : *app_->get_subcommand(name), topic, texts_);
}

int CommandLine::Run(int argc, char** argv) {
  if (argc <= 1) {
    std::cerr << HelpOn(*app_, "", texts_).value() << "\n";
    return ReportFailure(*app_, UsageError("a command is missing"));
  }
  const CLI::App& named = NamedFirst(*app_, argc, argv);
  if (const std::string flag = FlagWithEmptyValue(argc, argv); !flag.empty()) {
    return ReportFailure(named, UsageError(flag + ": the value is empty" + SeeHelp(named)));
  }
  if (const std::string flag = LongFlagWithOneSign(named, argc, argv); !flag.empty()) {
    return ReportFailure(
        named, UsageError(absl::StrCat("unknown flag ", flag, "; did you mean -", flag, "?")));
  }
  if (const std::string topic = HelpTopic(argc, argv); !topic.empty()) {
    return PrintHelp(named, topic, texts_);
  }
  std::vector<std::string> arguments = Arguments(named, argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  try {
    app_->parse(argc, pointers.data());
  } catch (const CLI::CallForHelp&) {
    return PrintHelp(Chosen(*app_), "", texts_);
  } catch (const CLI::ParseError& error) {
    // The version arrives as an exception, too.
    const CLI::App& command = app_->remaining().empty() ? Chosen(*app_) : *app_;
    if (error.get_exit_code() != 0) return ReportFailure(command, Mistake(command, error));
    app_->exit(error);
  }
  if (exit_code_ != 0) return exit_code_;
  return EndOfOutput(Chosen(*app_));
}

}  // namespace grapevine
