// How many of the machine's cores are there for this process.
#ifndef GRAPEVINE_SYSTEM_USABLE_CORES_H_
#define GRAPEVINE_SYSTEM_USABLE_CORES_H_

#include <optional>
#include <string>
#include <vector>

namespace grapevine {

// At least one: no more than its affinity mask has, and than the quotas of its control groups
// grant, as a container's may. Thread-safe.
int UsableCores();

// What the quotas of control groups in `folders` grant, rounded up; none: all.
std::optional<int> CoresGranted(const std::vector<std::string>& folders);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_USABLE_CORES_H_
