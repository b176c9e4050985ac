// Whether an algorithm and an optimizer go together: rules that take norms of tensors (LARS, LAMB)
// cannot step a server's range that cuts one, and an algorithm may have one optimizer alone
// (AlgorithmKind::optimizer).
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_CORE_OPTIMIZER_FIT_H_
#define GRAPEVINE_EXPERIMENT_CORE_OPTIMIZER_FIT_H_

#include "absl/status/status.h"
#include "kernels/vector/replica_layout.h"
#include "optim/optimizer.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Errors are kUsage and name the flag and what works: the --optimizer that the algorithm has, or
// the tensor that would be cut and the nearest --algorithm that cuts none.
absl::Status CheckOptimizerFits(const Config& config, const Optimizer& optimizer,
                                const ReplicaLayout& layout);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_OPTIMIZER_FIT_H_
