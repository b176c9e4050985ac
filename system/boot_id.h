// Whether two processes read the same clock.
#ifndef GRAPEVINE_SYSTEM_BOOT_ID_H_
#define GRAPEVINE_SYSTEM_BOOT_ID_H_

#include <string>

namespace grapevine {

// Names this machine from its boot to its end: where it is equal, the steady
// clocks of two processes are one. Empty where the system does not tell.
std::string BootId();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BOOT_ID_H_
