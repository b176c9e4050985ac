// All addresses of a name.
#ifndef GRAPEVINE_SYSTEM_NAME_RESOLUTION_H_
#define GRAPEVINE_SYSTEM_NAME_RESOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// In the system's order, each once: from the hosts file, name servers, whatever the system asks.
// Takes as long as that does (system/bounded_call.h). Unavailable has the system's reason. Safe
// from any thread.
absl::StatusOr<std::vector<std::string>> AddressesOfName(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_NAME_RESOLUTION_H_
