// The kinds of allreduce by name.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_REGISTRY_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_REGISTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/allreduce/allreduce_schedule.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

// Makes the schedule of a rank; as often as there are sums at the same time.
using AllreduceFactory = std::function<std::unique_ptr<const AllreduceSchedule>(Rank)>;

// Reads the kind from the arguments of "allreduce:KIND" (ring when there is none)
// and the kind's own options. Errors list the kinds, or name the nearest value
// that works for `size` ranks. The caller finishes the reader.
absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size);

// Names of the kinds, the default first: "ring".
std::vector<std::string> AllreduceKinds();
// The same with their options, for help: "ring, tree or torus[:4x8]".
std::string AllreduceUsages();

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_REGISTRY_H_
