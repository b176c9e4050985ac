// Tap devices: network interfaces whose other end is a file descriptor.
#ifndef GRAPEVINE_TOOLS_NETLAB_TAP_H_
#define GRAPEVINE_TOOLS_NETLAB_TAP_H_

#include <string>

#include "absl/status/statusor.h"
#include "system/unique_descriptor.h"

namespace grapevine::netlab {

// A new tap called `name`, in the network namespace of this process; it may be
// moved elsewhere, and it goes when the descriptor is closed. Reads and writes
// carry one Ethernet frame each and do not block. Errors name the device and
// what is missing (PermissionDenied: root; NotFound: /dev/net/tun).
absl::StatusOr<UniqueDescriptor> OpenTap(const std::string& name);

}  // namespace grapevine::netlab

#endif  // GRAPEVINE_TOOLS_NETLAB_TAP_H_
