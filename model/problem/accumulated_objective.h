// Objectives whose gradients are means over several passes, so that a batch need not fit in
// memory: the gradient of a round is the mean of those of its passes' batches, and so is the loss.
//
// The passes of all rounds are numbered through, and are the rounds of the objective inside: a
// stream of batches is cut into rounds differently, but the samples and their order are those of
// the undivided batch. Sums are in the order of the passes. Batch-norm statistics are each pass's
// own, and their mean is what the round has: they are not those of the undivided batch.
//
// What the passes' gradients differ by tells how noisy a gradient is: Objective::noise, on demand.
#ifndef GRAPEVINE_MODEL_PROBLEM_ACCUMULATED_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_ACCUMULATED_OBJECTIVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/passes.h"
#include "model/network/compute_context.h"
#include "model/problem/objective.h"

namespace grapevine {

struct Accumulation {
  PassesOf passes;
  // Costs a sweep over each pass's gradient and one over their mean. Rounds of one pass have none.
  bool measures_noise = false;
};

// For objectives of one thread that compute in `context`: they share the memory of one sum, which
// a round of one pass does not need. A round's parts are final in its last pass. ResourceExhausted
// where there is no memory for the sum.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Accumulated(
    std::vector<std::unique_ptr<Objective>> objectives, Accumulation accumulation,
    const ComputeContext& context);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_ACCUMULATED_OBJECTIVE_H_
