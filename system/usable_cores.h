// The number of the machine's cores that this process may use.
#ifndef GRAPEVINE_SYSTEM_USABLE_CORES_H_
#define GRAPEVINE_SYSTEM_USABLE_CORES_H_

#include <optional>
#include <string>
#include <vector>

namespace grapevine {

// Returns the number of cores that this process may use, at least 1: the cores in its affinity
// mask, but no more than the quotas of its control groups grant, such as those of a container.
// Thread-safe.
int UsableCores();

// Returns the number of cores that the quotas of the control groups in `folders` grant, rounded up,
// or nothing if no quota limits them.
std::optional<int> CoresGranted(const std::vector<std::string>& folders);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_USABLE_CORES_H_
