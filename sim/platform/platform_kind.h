// What is registered of a family of networks: how it is written, and how it is made.
//
// One of your own registers like those of this folder: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct PlatformKind {
  std::string name;     // "racks"
  std::string options;  // "[:hosts=16]", beside those of hosts' own cables, which all have
  std::string help;     // one line
  // With at least so many hosts. Reads the spec with a PlatformReader (platform_options.h).
  std::function<absl::StatusOr<std::shared_ptr<const Platform>>(const Spec&, Rank hosts)> make;
};

// All families of networks of this program.
Registry<PlatformKind>& Platforms();

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_
