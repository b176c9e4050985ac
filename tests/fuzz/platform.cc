// --network=file:PATH (sim/platform/platform_textproto.h).
#include "sim/platform/platform_textproto.h"
#include "tests/fuzz/platform_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const fuzz::InputFile file(data, size);
  fuzz::RequirePlatform(ReadPlatformTextproto(file.path()));
  return 0;
}
