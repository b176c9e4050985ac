// Under what names this machine may be listed.
#ifndef GRAPEVINE_SYSTEM_HOST_NAMES_H_
#define GRAPEVINE_SYSTEM_HOST_NAMES_H_

#include <string>
#include <vector>

namespace grapevine {

// Its host name first, that without the domain, and the addresses of its
// interfaces.
std::vector<std::string> HostNames();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_HOST_NAMES_H_
