#include "model/problem/phantom_problem.h"

#include <algorithm>

namespace grapevine {

void PhantomProblem::Initialize(float* replica) const { std::fill_n(replica, layout_.size, 0.0f); }

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> PhantomProblem::MakeObjectives(
    int64_t first, int64_t last, const ComputePlace&) const {
  std::vector<std::unique_ptr<Objective>> objectives;
  for (; first < last; ++first) objectives.push_back(std::make_unique<PhantomObjective>(options_));
  return objectives;
}

}  // namespace grapevine
