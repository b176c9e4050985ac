// Whether to go on, asked between the batches of an evaluation: large ones take minutes.
#ifndef GRAPEVINE_MODEL_PROBLEM_BETWEEN_BATCHES_H_
#define GRAPEVINE_MODEL_PROBLEM_BETWEEN_BATCHES_H_

#include <functional>

#include "absl/status/status.h"

namespace grapevine {

// Called on the thread that evaluates, before each batch. Its error ends the evaluation
// and is that of it. May be empty.
using BetweenBatches = std::function<absl::Status()>;

inline absl::Status MayGoOn(const BetweenBatches& between) {
  return between ? between() : absl::OkStatus();
}

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_BETWEEN_BATCHES_H_
