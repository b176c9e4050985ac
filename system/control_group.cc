#include "system/control_group.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace grapevine {
namespace {

// Appends the folders of a group and its parents: "/x/a/b/", "/x/a/", "/x/" for "/a/b" below "/x".
void AppendWithParents(const std::string& mounted, std::string path,
                       std::vector<std::string>* folders) {
  while (path.size() > 1) {
    folders->push_back(absl::StrCat(mounted, path, "/"));
    path.resize(path.rfind('/'));
  }
  folders->push_back(absl::StrCat(mounted, "/"));
}

}  // namespace

std::vector<std::string> ControlGroups(std::string_view controller) {
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  return ControlGroups(controller, text.str(), "/sys/fs/cgroup");
}

std::vector<std::string> ControlGroups(std::string_view controller, std::string_view memberships,
                                       const std::string& root) {
  std::vector<std::string> folders;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(memberships), '\n'))) {
    // A line is "4:cpu,cpuacct:/a/b", or "0::/a/b" for all controllers in version 2.
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || !fields[2].starts_with('/')) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (fields[1].empty()) {
      AppendWithParents(root, fields[2], &folders);
    } else if (std::ranges::find(controllers, controller) != controllers.end()) {
      AppendWithParents(absl::StrCat(root, "/", std::string(controller)), fields[2], &folders);
    }
  }
  return folders;
}

}  // namespace grapevine
