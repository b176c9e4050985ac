// --network=file:PATH (sim/platform/platform_request.h).
#include "sim/platform/platform_request.h"
#include "tests/fuzz/platform_file.h"

namespace grapevine {
namespace {

FUZZ_TARGET(platform) {
  const fuzz::InputFile file(data, size);
  fuzz::RequirePlatform(ReadPlatformTextproto(file.path()));
}

}  // namespace
}  // namespace grapevine
