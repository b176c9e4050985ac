// --config FILE, and a run's config.textproto (run/config/config_file.h).
#include <glog/logging.h>

#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(configuration) {
  const fuzz::InputFile file(data, size);
  const auto read = ReadConfigFile(file.path());
  if (!read.ok()) {
    fuzz::RequireClass(read.status(), Failure::kUsage);
    return;
  }
  // What was read is canonical: written and read again it is the same.
  const std::string text = ConfigFileText(read->config);
  const fuzz::InputFile again(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto second = ReadConfigFile(again.path());
  CHECK(second.ok()) << second.status() << text;
  CHECK_EQ(ConfigFileText(second->config), text);
  // Resolved it is valid, or refused by name.
  const auto resolved = ResolveConfig({.file = file.path()});
  if (!resolved.ok()) fuzz::RequireClass(resolved.status(), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
