// Where, along a quantity such as bandwidth, one side begins to win over the other.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_CROSSOVER_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_CROSSOVER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// Who is faster by more than the tolerance (advice.h).
enum class Verdict { kGossip, kTie, kCentralized };

// `advantage`: the centralized time over gossip's.
Verdict VerdictOf(double advantage);

struct Crossover {
  double at;  // within 2 %
  Verdict below;
  Verdict above;
};

struct CrossoverSearch {
  double low, high;                      // what was looked at
  double advantage_low, advantage_high;  // at its ends
  std::vector<Crossover> crossovers;     // rising; empty when one verdict holds throughout
};

// Looks at kScanPoints from `low` to `high` (above 0), evenly on a logarithmic scale,
// and bisects where two neighbours differ; what changes and changes back between
// two points is not seen. Errors are those of `advantage`.
absl::StatusOr<CrossoverSearch> FindCrossovers(
    double low, double high, const std::function<absl::StatusOr<double>(double)>& advantage);

inline constexpr int kScanPoints = 11;

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_CROSSOVER_H_
