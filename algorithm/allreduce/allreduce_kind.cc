#include "algorithm/allreduce/allreduce_kind.h"

#include <string>

namespace grapevine {

Registry<AllreduceKind>& Allreduces() {
  static auto* const allreduces = new Registry<AllreduceKind>("allreduce");
  return *allreduces;
}

absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size) {
  const std::string name = reader.Argument(kDefaultAllreduce);
  const AllreduceKind* const kind = Allreduces().Find(name);
  if (kind != nullptr) return kind->read(spec, reader, size);
  return UnknownNameError("allreduce", spec.text, name, Allreduces().Listings());
}

}  // namespace grapevine
