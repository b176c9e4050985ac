// Registrations of methods that average all replicas by an allreduce: "average:tree:every=8",
// "slowmo:every=12", "average:epoch". An AveragingMethod says what distinguishes a method. All
// methods share the options for the allreduce and the local steps, and the traits that follow from
// them.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "algorithm/algorithm_kind.h"
#include "algorithm/local/local_sgd.h"
#include "algorithm/local/outer_step.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

struct AveragingMethod {
  int64_t every;  // rounds from one average to the next, by default
  StepOrder order = StepOrder::kAtc;
  // Reads the method's own options, and makes the outer step that follows an average of `nodes`
  // replicas. If empty, the method has no options of its own, and the average takes the replicas'
  // place.
  std::function<std::unique_ptr<OuterStep>(SpecReader& reader, Rank nodes)> outer = nullptr;
  int outer_vectors = 0;  // vectors as long as a replica that `outer` keeps
};

// Completes `kind` with what follows from `method`: the factory, `centralized`, messages and
// memory. In a spec, "epoch" and "once" alone are short for every=epoch and every=once; any other
// argument that stands alone names the allreduce. Errors name the option and the nearest value that
// works.
AlgorithmKind AveragingKind(AveragingMethod method, AlgorithmKind kind);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_
