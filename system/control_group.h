// The control groups (cgroups(7)) of this process, versions 1 and 2, which limit its resources.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_SYSTEM_CONTROL_GROUP_H_
#define GRAPEVINE_SYSTEM_CONTROL_GROUP_H_

#include <string>
#include <string_view>
#include <vector>

namespace grapevine {

// Returns the folders of this process's control group under `controller` ("cpu", "memory") and of
// the groups around it, whose limits apply as well. The innermost comes first, and each ends in /.
// Some may not exist: a container sees its own group as the outermost one, but is told the path of
// that group outside of the container.
std::vector<std::string> ControlGroups(std::string_view controller);

// Returns the folders for `memberships`, the text of /proc/PID/cgroup, with all control groups
// below the folder `root`. A pure function.
std::vector<std::string> ControlGroups(std::string_view controller, std::string_view memberships,
                                       const std::string& root);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_CONTROL_GROUP_H_
