// Whether an algorithm and an optimizer go together: rules that take norms of tensors (LARS, LAMB)
// cannot step a server's range that cuts one.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_CORE_WHOLE_TENSORS_H_
#define GRAPEVINE_EXPERIMENT_CORE_WHOLE_TENSORS_H_

#include "absl/status/status.h"
#include "kernels/vector/replica_layout.h"
#include "optim/optimizer.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Errors are kUsage and name --optimizer, the tensor that would be cut and the nearest --algorithm
// that cuts none.
absl::Status CheckWholeTensors(const Config& config, const Optimizer& optimizer,
                               const ReplicaLayout& layout);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_WHOLE_TENSORS_H_
