// The control groups (cgroups(7)) of this process, of version 1 and 2, which bound what it may use.
//
// Pure but for ControlGroups() without arguments, which reads the system. Safe from any thread.
#ifndef GRAPEVINE_SYSTEM_CONTROL_GROUP_H_
#define GRAPEVINE_SYSTEM_CONTROL_GROUP_H_

#include <string>
#include <string_view>
#include <vector>

namespace grapevine {

// Folders of the group in which `controller` ("cpu", "memory") has this process, and of those
// around it, whose limits hold as well: the innermost first, each with a / at its end. Some may not
// exist: a container sees its own group as the outermost, and is told where that is outside.
std::vector<std::string> ControlGroups(std::string_view controller);

// The same for `memberships`, the text of /proc/PID/cgroup, where groups are below `root`.
std::vector<std::string> ControlGroups(std::string_view controller, std::string_view memberships,
                                       const std::string& root);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_CONTROL_GROUP_H_
