// How help looks: one column of flags, wrapped texts, defaults in brackets.
#ifndef GRAPEVINE_CLI_FLAGS_HELP_FORMATTER_H_
#define GRAPEVINE_CLI_FLAGS_HELP_FORMATTER_H_

#include <CLI/CLI.hpp>
#include <string>

namespace grapevine {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(30);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_HELP_FORMATTER_H_
