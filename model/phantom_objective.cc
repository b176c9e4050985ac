#include "model/phantom_objective.h"

#include <algorithm>
#include <utility>

namespace grapevine {

PhantomObjective::PhantomObjective(PhantomOptions options) : options_(std::move(options)) {
  layout_.AddParameter("phantom", {options_.elements});
}

void PhantomObjective::Initialize(float* replica) { std::fill_n(replica, layout_.size, 0.0f); }

absl::StatusOr<double> PhantomObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  options_.wait(options_.compute);
  return 0.0;
}

}  // namespace grapevine
