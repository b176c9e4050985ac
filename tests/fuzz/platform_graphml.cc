// --network=file:PATH (sim/platform/platform_request.h).
#include "sim/platform/platform_request.h"
#include "tests/fuzz/platform_file.h"

namespace grapevine {
namespace {

FUZZ_TARGET(platform_graphml) {
  const fuzz::InputFile file(data, size);
  fuzz::RequirePlatform(ReadPlatformGraphml(file.path()));
}

}  // namespace
}  // namespace grapevine
