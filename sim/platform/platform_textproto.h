// A user's own network as a textproto (platform.proto).
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_TEXTPROTO_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_TEXTPROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/platform/platform_description.h"

namespace grapevine {

// Errors are kInput and begin with FILE:LINE.
absl::StatusOr<PlatformDescription> ReadPlatformTextproto(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_TEXTPROTO_H_
