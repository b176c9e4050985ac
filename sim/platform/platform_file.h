// file:PATH: a user's own network. The file is hostile until proven a network.
//
// The ending of the name decides how it is read:
//   .graphml, .xml   GraphML (platform_graphml.h)
//   anything else    a textproto (platform.proto)
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Errors about the content are kInput and name the file, the line or element, and
// what to do.
absl::StatusOr<std::shared_ptr<const Platform>> LoadPlatformFile(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_
