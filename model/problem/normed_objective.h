// Objectives that measure the norms of their weights' and gradients' tensors in some rounds
// (base/tensor_norms.h): at the replica at which a gradient is taken, and of this gradient.
//
// A gradient's parts are measured before they are announced, because from then on others may write
// there; they are announced as early as by the objective inside, but for a tensor that they cut.
#ifndef GRAPEVINE_MODEL_PROBLEM_NORMED_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_NORMED_OBJECTIVE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/network/compute_context.h"
#include "model/problem/objective.h"

namespace grapevine {

// For objectives of one thread that compute in `context`. A round that is `measured` costs one
// sweep over the parameters and one over their gradient, and on a device a wait for both; others
// cost nothing. ResourceExhausted where the device has no memory for the norms.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Normed(
    std::vector<std::unique_ptr<Objective>> objectives, std::function<bool(int64_t round)> measured,
    const ComputeContext& context);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NORMED_OBJECTIVE_H_
