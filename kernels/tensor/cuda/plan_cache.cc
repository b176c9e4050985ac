#include "kernels/tensor/cuda/plan_cache.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace grapevine {

absl::StatusOr<size_t> PlanCache::Choose(const PlanChoice& choice, const Measure& measure) {
  const auto fits = [&](size_t index) {
    return index < choice.workspace_bytes.size() &&
           choice.workspace_bytes[index] <= choice.most_workspace_bytes;
  };
  {
    const MutexLock lock(mutex_);
    const auto known = chosen_.find(choice.key);
    if (known != chosen_.end() && fits(known->second)) return known->second;
  }
  absl::Status why = absl::ResourceExhaustedError(absl::StrCat(
      choice.key, ": no plan needs at most ", choice.most_workspace_bytes, " bytes of workspace"));
  std::optional<size_t> fastest;
  double least = 0;
  for (size_t index = 0; index < choice.workspace_bytes.size(); ++index) {
    if (!fits(index)) continue;
    const absl::StatusOr<double> seconds = measure(index);
    if (absl::IsDeadlineExceeded(seconds.status())) return seconds.status();
    if (!seconds.ok()) {
      why = seconds.status();
    } else if (!fastest || *seconds < least) {
      fastest = index;
      least = *seconds;
    }
  }
  if (!fastest) return why;
  const MutexLock lock(mutex_);
  chosen_[choice.key] = *fastest;
  return *fastest;
}

}  // namespace grapevine
