#include "cli/flags/help_formatter.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace grapevine {
namespace {

// Breaks between words, so that help fits 100 columns.
std::string Wrap(const std::string& text) {
  constexpr size_t kColumns = 68;
  std::string wrapped;
  size_t column = 0;
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  for (const std::string& word : words) {
    const bool breaks = column > 0 && column + 1 + word.size() > kColumns;
    if (column > 0) wrapped += breaks ? '\n' : ' ';
    column = breaks ? word.size() : column + (column > 0) + word.size();
    wrapped += word;
  }
  return wrapped;
}

}  // namespace

// "--no-overwrite", not "--no-overwrite{false}".
std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  return absl::StrReplaceAll(CLI::Formatter::make_option_name(option, is_positional),
                             {{"{false}", ""}});
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";  // a switch
  const bool many = option->get_expected_max() > 1;
  // Without the list that a check appends ("AXIS:{x,y}"): the text names it.
  const std::string type = option->get_type_name();
  return absl::StrCat(" ", type.substr(0, type.find(":{")), many ? "..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string value = option->get_default_str();
  return Wrap(absl::StrCat(option->get_description(),
                           value.empty() ? "" : absl::StrCat(" [", value, "]"),
                           option->get_required() ? " (required)" : ""));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  return absl::StrReplaceAll(CLI::Formatter::make_help(app, std::move(name), mode),
                             {{"\n\n\n", "\n\n"}});
}

}  // namespace grapevine
