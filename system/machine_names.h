// Names of this machine. Others reach it by them, and they show whether two processes share a clock
// or compute the same bits.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
#define GRAPEVINE_SYSTEM_MACHINE_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// Returns the names under which this machine may be listed: its host name first, then the host name
// without the domain, and the addresses of its interfaces.
std::vector<std::string> HostNames();

// Returns the model of this machine's processor, or "" if the system does not report it.
std::string ProcessorName();

// Returns an id of this machine since its boot: processes with the same id share a steady clock.
// Returns "" if the system does not provide one.
std::string BootId();

// Returns all addresses of a name, in the system's order and each once.
//
// The system asks the hosts file, name servers and whatever else it is configured to ask. The call
// takes as long as they take to answer (see system/deadline.h). An Unavailable error has the
// system's reason.
absl::StatusOr<std::vector<std::string>> AddressesOfName(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
