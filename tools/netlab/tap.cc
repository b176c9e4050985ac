#include "tools/netlab/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>

#include "absl/strings/str_cat.h"

namespace grapevine::netlab {
namespace {

constexpr char kDevice[] = "/dev/net/tun";

absl::Status Failed(const std::string& what, int error) {
  const char* const remedy = error == EPERM || error == EACCES ? " (the lab needs root)"
                             : error == ENOENT || error == ENODEV
                                 ? " (the kernel lacks the tun module; try `modprobe tun`)"
                                 : "";
  return absl::ErrnoToStatus(error, absl::StrCat(what, remedy));
}

}  // namespace

absl::StatusOr<UniqueDescriptor> OpenTap(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\" is no name for a device: 1 to ", IFNAMSIZ - 1, " characters"));
  }
  UniqueDescriptor tap(open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap.open()) return Failed(absl::StrCat("cannot open ", kDevice), errno);
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) {
    return Failed(absl::StrCat("cannot make the tap ", name), errno);
  }
  return tap;
}

}  // namespace grapevine::netlab
