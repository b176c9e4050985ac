#include "algorithm/async_gradients.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// A worker's share is what is left, divided by kParts times the number of workers. kParts bounds
// how much slower than the others a worker may be and still end with them: kParts times, less the
// share that is granted before the last one is used up.
constexpr int64_t kParts = 16;

// The number of windows that a worker has ahead of it while as many are left for every worker: the
// window that it is in, and one more, so that it does not come to its limit before the answer to
// its report.
constexpr int64_t kWindowsAhead = 2;

}  // namespace

GradientBudget::GradientBudget(Rank workers, Round window, const std::vector<Round>& done)
    : least_ahead_(kWindowsAhead * window), workers_(workers), sharing_(workers) {
  for (size_t i = 0; i < std::min(done.size(), workers_.size()); ++i) {
    workers_[i].steps = workers_[i].limit = done[i];
    steps_ += done[i];
  }
  total_ = granted_ = steps_;
}

std::vector<Rank> GradientBudget::Extend(int64_t total) {
  total_ = std::max(total_, total);
  return GrantAll();
}

std::vector<Rank> GradientBudget::Leave(Rank rank) {
  Worker& worker = workers_[rank];
  if (std::exchange(worker.left, true)) return {};
  granted_ -= worker.limit - worker.steps;
  worker.limit = worker.steps;
  --sharing_;
  return GrantAll();
}

std::vector<Rank> GradientBudget::GrantAll() {
  std::vector<Rank> moved;
  for (Rank rank = 0; rank < workers(); ++rank) {
    if (Grant(workers_[rank])) moved.push_back(rank);
  }
  return moved;
}

absl::StatusOr<bool> GradientBudget::OnSteps(Rank rank, Round steps) {
  Worker& worker = workers_[rank];
  if (steps < worker.steps) {
    return absl::InvalidArgumentError(
        absl::StrCat("says that it has done ", steps, " steps, after ", worker.steps));
  }
  if (steps > worker.limit) {
    return absl::InvalidArgumentError(
        absl::StrCat("says that it has done ", steps, " steps, where its limit is ", worker.limit));
  }
  steps_ += steps - worker.steps;
  worker.steps = steps;
  return Grant(worker);
}

bool GradientBudget::Grant(Worker& worker) {
  if (worker.left) return false;
  const int64_t left = total_ - granted_;
  const int64_t equal_part = (left + sharing_ - 1) / sharing_;
  const int64_t share = std::min(1 + left / (kParts * sharing_), kMaxAhead);
  const int64_t ahead = std::max(share, std::min(least_ahead_, equal_part));
  const int64_t granted = std::min(ahead - (worker.limit - worker.steps), left);
  if (granted <= 0) return false;
  worker.limit += granted;
  granted_ += granted;
  return true;
}

}  // namespace grapevine
