// Names of this machine: for others to reach it, and to tell whether two processes share its
// clock or compute the same bits.
//
// Thread-safety: safe from any thread.
#ifndef GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
#define GRAPEVINE_SYSTEM_MACHINE_NAMES_H_

#include <string>
#include <vector>

namespace grapevine {

// The names under which this machine may be listed: its host name first, the same without the
// domain, and the addresses of its interfaces.
std::vector<std::string> HostNames();

// The model of its processor; empty if the system does not say.
std::string ProcessorName();

// Identifies this machine since its boot: processes with the same id share a steady clock.
// Empty if the system does not provide one.
std::string BootId();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MACHINE_NAMES_H_
