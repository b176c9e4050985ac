#include "kernels/tensor/cuda/library/plan_cache.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

// The number of times that each plan is measured, in turns, so that neither a clock that still
// rises nor another process decides.
constexpr int kTurns = 2;

// Returns the fastest candidate, the first of equals. If none runs, returns the reason of the last
// one, or `why` if there are no candidates.
absl::StatusOr<FastestPlan> FastestOf(const std::vector<size_t>& candidates,
                                      const PlanCache::Measure& measure, absl::Status why) {
  std::vector<FastestPlan> plans;
  for (const size_t index : candidates) {
    plans.push_back({index, std::numeric_limits<double>::infinity()});
  }
  for (int turn = 0; turn == 0 || (turn < kTurns && plans.size() > 1); ++turn) {
    std::vector<FastestPlan> run;
    for (const FastestPlan& plan : plans) {
      const absl::StatusOr<double> seconds = measure(plan.index);
      if (absl::IsDeadlineExceeded(seconds.status())) return seconds.status();
      if (seconds.ok()) {
        run.push_back({plan.index, std::min(plan.seconds, *seconds)});
      } else {
        why = seconds.status();
      }
    }
    plans = std::move(run);
  }
  if (plans.empty()) return why;
  return *std::ranges::min_element(plans, {}, &FastestPlan::seconds);
}

}  // namespace

absl::StatusOr<FastestPlan> PlanCache::Choose(const PlanChoice& choice, const Measure& measure) {
  const auto fits = [&](size_t index) {
    return index < choice.workspace_bytes.size() &&
           choice.workspace_bytes[index] <= choice.most_workspace_bytes;
  };
  {
    const MutexLock lock(mutex_);
    const auto known = chosen_.find(choice.key);
    if (known != chosen_.end() && fits(known->second.index)) return known->second;
  }
  std::vector<size_t> candidates;
  for (size_t index = 0; index < choice.workspace_bytes.size(); ++index) {
    if (fits(index)) candidates.push_back(index);
  }
  ASSIGN_OR_RETURN(const FastestPlan fastest,
                   FastestOf(candidates, measure,
                             absl::ResourceExhaustedError(absl::StrCat(
                                 choice.key, ": no plan needs at most ",
                                 choice.most_workspace_bytes, " bytes of workspace"))));
  const MutexLock lock(mutex_);
  chosen_[choice.key] = fastest;
  return fastest;
}

}  // namespace grapevine
