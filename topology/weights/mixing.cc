#include "topology/weights/mixing.h"

#include <utility>

#include "base/status.h"

namespace grapevine {

Registry<MixingKind>& Mixings() {
  static auto* const mixings = new Registry<MixingKind>("mixing");
  return *mixings;
}

absl::StatusOr<std::shared_ptr<const Mixing>> MakeMixing(std::string_view text,
                                                         std::shared_ptr<const Topology> topology) {
  ASSIGN_OR_RETURN(const auto named, Mixings().Read(text));
  return named.kind->make(named.spec, std::move(topology));
}

}  // namespace grapevine
