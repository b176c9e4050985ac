// The time that gradients take: a fixed time or a random one, and longer on nodes that are slow.
//
// The simulator and real nodes share it. The simulator charges these times, real nodes with a
// phantom model wait for them, and other real nodes stretch their own times if they are slow. A
// simulated and a real run of one configuration therefore draw the same times. Draws use only
// IEEE's basic operations (random/portable_math.h): the same seed gives the same nanoseconds on
// every machine.
#ifndef GRAPEVINE_RUN_TIMING_COMPUTE_TIME_H_
#define GRAPEVINE_RUN_TIMING_COMPUTE_TIME_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/gradient.h"
#include "base/ids.h"

namespace grapevine {

// The longest possible gradient, about 11 days: sums over a run fit in 64 bits.
inline constexpr int64_t kLongestGradient = 1'000'000'000'000'000;

// Returns `nanoseconds`, rounded and clamped to the range of a gradient's time.
int64_t ToGradientTime(double nanoseconds);

// The times of gradients. Immutable and a pure function, so that times do not depend on the order
// of events.
class ComputeTime {
 public:
  virtual ~ComputeTime() = default;
  // Returns the time of a gradient in nanoseconds, between 0 and kLongestGradient.
  virtual int64_t Gradient(Rank rank, Round round) const = 0;
  // Returns the time of a gradient that begins at `begin`, in nanoseconds since the run began; see
  // Gradient. The node may be held up meanwhile.
  virtual int64_t GradientFrom(Rank rank, Round round, int64_t /*begin*/) const {
    return Gradient(rank, round);
  }
  // Returns the time of consecutive gradients together; see Gradient. The first of them is of round
  // `passes.first`.
  virtual int64_t Gradients(Rank rank, Passes passes) const;
};

// A fixed time for every node and round.
class FixedComputeTime final : public ComputeTime {
 public:
  explicit FixedComputeTime(int64_t nanoseconds) : nanoseconds_(nanoseconds) {}
  int64_t Gradient(Rank, Round) const override { return nanoseconds_; }
  int64_t Gradients(Rank rank, Passes passes) const override;

 private:
  const int64_t nanoseconds_;
};

// Returns times of rounds with several passes. A round takes as long as all its passes together, at
// most kLongestGradient. A pass takes the time that `compute` draws for a gradient of the pass's
// number.
std::unique_ptr<const ComputeTime> WithPasses(std::unique_ptr<const ComputeTime> compute,
                                              PassesOf passes);

// Makes the times from the value of --compute:
//
//   10ms                           fixed
//   normal:mean=10ms:sd=1ms        a draw below mean/100 becomes mean/100
//   exponential:mean=10ms
//   lognormal:median=10ms:sigma=0.3
//   pareto:min=8ms:alpha=3         mean min * alpha / (alpha - 1)
//   profile:FILE[:device=cpu]      as measured (run/timing/compute_profile.h), between
//                                  neighbouring quantiles with equal probability
//
// A draw is keyed by (seed, rank, round). Errors are kUsage, begin with "--compute=SPEC" and say
// what is wrong, or kInput and name the file.
absl::StatusOr<std::unique_ptr<const ComputeTime>> MakeComputeTime(std::string_view spec,
                                                                   uint64_t seed);

// The slow nodes of a run: the factors by which the gradients of nodes take longer, and when. An
// immutable value, a pure function of (seed, rank, round).
class Stragglers {
 public:
  // Makes no node slow.
  Stragglers() = default;

  // Makes the factors from the value of --straggler
  //
  //   none
  //   rank=3:factor=5          one node, always
  //   fraction=0.1:factor=3    that part of the nodes, at least one, drawn from the seed; always
  //   p=0.05:factor=4          each node in each round with this probability
  //
  // and from the values of --slow, RANK:FACTOR. If both apply, the factors multiply. Errors are
  // kUsage and name the flag: the value is malformed, a rank is outside the run or named twice, or
  // a factor is below 1.
  static absl::StatusOr<Stragglers> Make(std::string_view spec, std::span<const std::string> slow,
                                         Rank nodes, uint64_t seed);

  bool none() const { return permanent_.empty() && probability_ == 0; }
  // Returns the factor for a gradient, at least 1.
  double Factor(Rank rank, Round round) const;

 private:
  absl::Status AddSlow(const std::string& text, Rank nodes, std::vector<bool>* named);
  absl::Status AddSpec(std::string_view text, Rank nodes, uint64_t seed);
  void MultiplyPermanent(Rank rank, double factor, Rank nodes);

  std::vector<double> permanent_;  // by rank; empty: all 1
  double probability_ = 0;         // probability of a transient slowdown
  double transient_ = 1;
  uint64_t seed_ = 0;
};

// Returns the times of `compute`, multiplied by the stragglers' factors; at most kLongestGradient.
std::unique_ptr<const ComputeTime> WithStragglers(std::unique_ptr<const ComputeTime> compute,
                                                  Stragglers stragglers);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TIMING_COMPUTE_TIME_H_
