#include "sim/platform/platform_kind.h"

namespace grapevine {

Registry<PlatformKind>& Platforms() {
  static auto* const platforms = new Registry<PlatformKind>("network");
  return *platforms;
}

}  // namespace grapevine
