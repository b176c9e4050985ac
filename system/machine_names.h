// Names of this machine: for others to reach it, and to tell whether two processes share its
// clock or compute the same bits.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
#define GRAPEVINE_SYSTEM_MACHINE_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// The names under which this machine may be listed: its host name first, the same without the
// domain, and the addresses of its interfaces.
std::vector<std::string> HostNames();

// The model of its processor; empty if the system does not say.
std::string ProcessorName();

// Identifies this machine since its boot: processes with the same id share a steady clock.
// Empty if the system does not provide one.
std::string BootId();

// All addresses of a name.
//
// In the system's order, each once: from the hosts file, name servers, whatever the system asks.
// Takes as long as that does (system/deadline.h). Unavailable has the system's reason. Safe
// from any thread.
absl::StatusOr<std::vector<std::string>> AddressesOfName(const std::string& name);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
