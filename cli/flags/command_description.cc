#include "cli/flags/command_description.h"

namespace grapevine {

PathKind PathKindOf(const std::string& placeholder) {
  const std::string last = placeholder.substr(placeholder.rfind(':') + 1);
  if (last == "FILE" || last == "PATH") return PathKind::kFile;
  if (last == "DIR") return PathKind::kFolder;
  return PathKind::kNone;
}

}  // namespace grapevine
