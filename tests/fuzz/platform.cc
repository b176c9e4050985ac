// --network=file:PATH (sim/platform/platform_file.h).
#include "sim/platform/platform_file.h"
#include "tests/fuzz/platform_file.h"

namespace grapevine {
namespace {

void Play(const uint8_t* data, size_t size) {
  const fuzz::InputFile file(data, size);
  fuzz::RequirePlatform(ReadPlatformTextproto(file.path()));
}

const fuzz::Target target("platform", Play);

}  // namespace
}  // namespace grapevine
