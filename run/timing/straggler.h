// Which nodes are slow, and when.
//
// Both worlds share it: the simulator multiplies the gradient's time, real nodes stretch theirs
// by waiting.
#ifndef GRAPEVINE_RUN_TIMING_STRAGGLER_H_
#define GRAPEVINE_RUN_TIMING_STRAGGLER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "run/timing/compute_time.h"

namespace grapevine {

// The factors by which gradients take longer: an immutable value, a pure function of (seed, rank,
// round).
class Stragglers {
 public:
  // None.
  Stragglers() = default;

  // From the value of --straggler:
  //
  //   none
  //   rank=3:factor=5          one node, always
  //   fraction=0.1:factor=3    that part of the nodes, at least one, drawn from the seed; always
  //   p=0.05:factor=4          each node in each round with this probability
  //
  // and from those of --slow, RANK:FACTOR; if both apply, the factors multiply. Errors are kUsage
  // and name the flag: malformed, a rank outside the run or named twice, a factor below 1.
  static absl::StatusOr<Stragglers> Make(std::string_view spec, std::span<const std::string> slow,
                                         Rank nodes, uint64_t seed);

  bool none() const { return permanent_.empty() && probability_ == 0; }
  // At least 1.
  double Factor(Rank rank, Round round) const;

 private:
  absl::Status AddSlow(const std::string& text, Rank nodes, std::vector<bool>* named);
  absl::Status AddSpec(std::string_view text, Rank nodes, uint64_t seed);
  void MultiplyPermanent(Rank rank, double factor, Rank nodes);

  std::vector<double> permanent_;  // by rank; empty: all 1
  double probability_ = 0;         // of a transient slowdown
  double transient_ = 1;
  uint64_t seed_ = 0;
};

// The times of `compute`, multiplied by the stragglers' factors; at most kLongestGradient.
std::unique_ptr<const ComputeTime> WithStragglers(std::unique_ptr<const ComputeTime> compute,
                                                  Stragglers stragglers);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TIMING_STRAGGLER_H_
