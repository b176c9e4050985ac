// What this machine is called: by others, and to tell whether two processes share its clock.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
#define GRAPEVINE_SYSTEM_MACHINE_NAMES_H_

#include <string>
#include <vector>

namespace grapevine {

// Under what names this machine may be listed: its host name first, that without the domain, and
// the addresses of its interfaces.
std::vector<std::string> HostNames();

// Names this machine from its boot to its end: where it is equal, the steady
// clocks of two processes are one. Empty where the system does not tell.
std::string BootId();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
