#include "cli/commands/commands.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace grapevine {

void AddTableFormatFlag(Command command, const std::string& help, std::string* name) {
  std::vector<std::string> names;
  for (const NamedTableFormat& format : kTableFormats) names.push_back(format.name);
  command
      .AddFlag({.names = "--format",
                .help = absl::StrCat(help, ": ", absl::StrJoin(names, ", ")),
                .placeholder = "FORMAT"},
               name)
      .OneOf(names);
}

TableFormat TableFormatNamed(const std::string& name) {
  const auto* const found = std::ranges::find(
      kTableFormats, std::string_view(name),
      [](const NamedTableFormat& format) { return std::string_view(format.name); });
  CHECK(found != std::end(kTableFormats)) << name;
  return found->format;
}

}  // namespace grapevine
