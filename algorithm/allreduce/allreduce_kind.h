// The registration of a kind of allreduce, the KIND of `allreduce:KIND`: its notation and the
// reading of its options.
//
// Each registers itself in the file of its schedule, as your own does: docs/extending.md.
//
// Thread-safety: a kind is immutable once registered; functions are pure, safe from any thread.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/allreduce/allreduce_schedule.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"

namespace grapevine {

// Schedules of parts of a vector that are summed side by side: equal ones, from its end to its
// beginning. Most kinds have one.
using AllreduceSchedules = std::vector<std::unique_ptr<const AllreduceSchedule>>;

// Makes the schedules of a rank; called once for each concurrent sum.
using AllreduceFactory = std::function<AllreduceSchedules(Rank)>;

template <typename Schedule, typename... Arguments>
AllreduceSchedules OneSchedule(Arguments&&... arguments) {
  AllreduceSchedules schedules;
  schedules.push_back(std::make_unique<Schedule>(std::forward<Arguments>(arguments)...));
  return schedules;
}

struct AllreduceKind {
  std::string name;     // "torus"
  std::string options;  // "[:4x8]"
  std::string help;     // one line
  // Reads what follows "allreduce:KIND" for `size` ranks. Errors are SpecErrors, and name the
  // nearest value that works. The caller finishes the reader.
  std::function<absl::StatusOr<AllreduceFactory>(const Spec&, SpecReader&, Rank size)> read;
};

// `read` of a kind without options, whose schedule is made of (rank, size).
template <typename Schedule>
absl::StatusOr<AllreduceFactory> ReadPlainAllreduce(const Spec&, SpecReader&, Rank size) {
  return [size](Rank rank) { return OneSchedule<Schedule>(rank, size); };
}

// All kinds of allreduce of this program.
Registry<AllreduceKind>& Allreduces();

inline constexpr std::string_view kDefaultAllreduce = "ring";

// How many messages all of `size` ranks send for one sum of more elements than ranks; an estimate
// for more than some hundreds of ranks.
double MessagesOfASum(const AllreduceFactory& make, Rank size);

// Reads the kind from the next argument of "allreduce:KIND", and the kind's own options. The
// caller finishes the reader. UnknownNameError, or the kind's errors.
absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_
