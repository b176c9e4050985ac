#include "experiment/advice/crossover.h"

#include <cmath>

#include "base/status_macros.h"
#include "experiment/advice/advice.h"

namespace grapevine {
namespace {

constexpr double kPrecision = 1.02;

}  // namespace

Verdict VerdictOf(double advantage) {
  if (advantage > 1 + kTolerance) return Verdict::kGossip;
  return advantage * (1 + kTolerance) < 1 ? Verdict::kCentralized : Verdict::kTie;
}

absl::StatusOr<CrossoverSearch> FindCrossovers(
    double low, double high, const std::function<absl::StatusOr<double>(double)>& advantage) {
  CrossoverSearch search{.low = low, .high = high};
  const double step = std::pow(high / low, 1.0 / (kScanPoints - 1));
  double last_at = low;
  Verdict last = Verdict::kTie;
  for (int i = 0; i < kScanPoints; ++i) {
    const double at = low * std::pow(step, i);
    ASSIGN_OR_RETURN(const double here, advantage(at));
    const Verdict verdict = VerdictOf(here);
    if (i == 0) search.advantage_low = here;
    search.advantage_high = here;
    if (i > 0 && verdict != last) {
      double below = last_at;
      double above = at;
      while (above / below > kPrecision) {
        const double middle = std::sqrt(below * above);
        ASSIGN_OR_RETURN(const double there, advantage(middle));
        (VerdictOf(there) == last ? below : above) = middle;
      }
      search.crossovers.push_back({std::sqrt(below * above), last, verdict});
    }
    last_at = at;
    last = verdict;
  }
  return search;
}

}  // namespace grapevine
