// The learning rate over a run.
//
// Specs, with positions P along the run written in epochs ("5", "2.5") or as a
// share of the run ("10%"), none past its end:
//   constant
//   step:at=P+P:factor=F    times F at each position, ascending (at=50%+75%, factor=0.1)
//   cosine:end=F            half a cosine down to F times the base rate (end=0);
//                           Loshchilov and Hutter, arXiv:1608.03983, no restarts
//   poly:power=K:end=F      base * (end + (1 - end) (1 - t)^K) (power=1, end=0)
// Each takes warmup=P, a linear ramp from base/w in round 0 to the base rate in
// round w-1, w being P in rounds. (The gradual warm-up of Goyal et al.,
// arXiv:1706.02677, section 2.2, grows by a constant amount a round as well, but
// begins at the rate of one worker, base/k for k of them.) Cosine and poly let t
// run from 0 at the end of the ramp to 1 at the end of the run.
//
// Thread-safety: schedules are immutable functions, safe from any thread.
#ifndef GRAPEVINE_OPTIM_SCHEDULE_H_
#define GRAPEVINE_OPTIM_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"

namespace grapevine {

// Learning rate by round; rounds past the end keep the last one's rate.
using Schedule = std::function<double(int64_t)>;

struct ScheduleOptions {
  double base_rate = 0.05;
  double rounds_per_epoch = 1;
  int64_t rounds = 1;  // of the whole run
};

// Errors name the spec and what is known or allowed.
absl::StatusOr<Schedule> MakeSchedule(std::string_view spec, const ScheduleOptions& options);

// The factor of the base rate in a round after the warm-up.
using ScheduleShape = std::function<double(int64_t round)>;

// A schedule's registration: its notation and its shape over the run. Register your own as
// schedule.cc does: docs/extending.md. Immutable once registered.
struct ScheduleKind {
  std::string name;     // "cosine"
  std::string options;  // "[:end=0]", beside :warmup=, which all have
  std::string help;     // one line
  // Reads its own options from the reader, which the caller finishes. The ramp takes the
  // first `ramp` rounds.
  std::function<absl::StatusOr<ScheduleShape>(const Spec&, SpecReader&, int64_t ramp,
                                              const ScheduleOptions&)>
      make;
};

// All schedules of this program.
Registry<ScheduleKind>& Schedules();

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_SCHEDULE_H_
