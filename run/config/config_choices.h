// Settings whose value is one of a few words.
//
// Pure, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_CHOICES_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_CHOICES_H_

#include <string>
#include <vector>

namespace grapevine {

struct ConfigChoices {
  std::string field;  // "log_level"
  std::vector<std::string> values;
};

const std::vector<ConfigChoices>& AllConfigChoices();

// Returns the choices of the field called `name`; empty if its value is not one of a few words.
std::vector<std::string> ConfigChoicesOf(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_CHOICES_H_
