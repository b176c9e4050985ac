// The learning rate over a run, and how it follows the batch.
//
// Specs, with positions P along the run as in optim/run_position.h:
//   constant
//   step:at=P+P:factor=F    times F at each position, ascending (at=50%+75%, factor=0.1)
//   cosine:end=F            half a cosine down to F times the rate (end=0);
//                           Loshchilov and Hutter, arXiv:1608.03983, no restarts
//   poly:power=K:end=F      rate * (end + (1 - end) (1 - t)^K) (power=1, end=0)
// Each takes warmup=P, a linear ramp up to the rate over P. The ramp takes w rounds and begins
//   from=zero   at rate/w in round 0, and reaches the rate in round w-1
//   from=base   at the rate before --scale-lr, and reaches the scaled one in round w: the gradual
//               warm-up of Goyal et al., arXiv:1706.02677, section 2.2
// By default it begins at the base rate where --scale-lr raises it, otherwise at zero. For cosine
// and poly, t runs from 0 at the end of the ramp to 1 at the end of the run.
//
// Thread-safety: schedules are immutable functions, safe from any thread, and so are the functions
// here.
#ifndef GRAPEVINE_OPTIM_LEARNING_RATE_H_
#define GRAPEVINE_OPTIM_LEARNING_RATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "optim/run_position.h"

namespace grapevine {

// The learning rate by round of the first batch (optim/batch_schedule.h). Rounds past the end keep
// the last round's rate.
using Schedule = std::function<double(int64_t)>;

struct ScheduleOptions {
  double rate = 0.05;  // the rate at the end of a warm-up
  // The rate before it was scaled to the batch (below), if it was.
  std::optional<double> unscaled_rate;
  RunExtent run;
};

// Makes the schedule that `spec` names. Errors name the spec and what is known or allowed.
absl::StatusOr<Schedule> MakeSchedule(std::string_view spec, const ScheduleOptions& options);

// The factor of the rate in a round after the warm-up.
using ScheduleShape = std::function<double(int64_t round)>;

// A schedule's registration: its notation and its shape over the run. Register your own as
// learning_rate.cc does: docs/extending.md. Immutable once registered.
struct ScheduleKind {
  std::string name;     // "cosine"
  std::string options;  // "[:end=0]"; all schedules also have :warmup= and :from=
  std::string help;     // one line
  // Reads the schedule's own options from the reader, which the caller finishes. The ramp takes the
  // first `ramp` rounds.
  std::function<absl::StatusOr<ScheduleShape>(const Spec&, SpecReader&, int64_t ramp,
                                              const ScheduleOptions&)>
      make;
};

// All schedules of this program.
Registry<ScheduleKind>& Schedules();

// How the learning rate follows the batch.
//
// A rate that is tuned for one batch is multiplied by a factor for another:
//
//   none
//   linear[:base=256]   B / base     Goyal et al., arXiv:1706.02677, section 2.1
//   sqrt[:base=256]     sqrt(B / base)   Krizhevsky, arXiv:1404.5997, section 5
//
// B is the global batch: the samples that all workers together see in a round. It is the right
// number where a round moves the (averaged) model by the mean of the workers' gradients, as all
// synchronous algorithms here do: the more samples, the less noise in the mean, and the larger a
// step it can bear. Where gradients were summed, the step would grow with their number already.
struct RateScaling {
  double base = 0;    // the batch that the unscaled rate is for
  double factor = 1;  // factor of the unscaled rate
};

// Returns the scaling that `spec` names; nullopt for "none". Errors name the spec and what is known
// or allowed.
absl::StatusOr<std::optional<RateScaling>> ScaleRate(std::string_view spec, int64_t global_batch);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_LEARNING_RATE_H_
