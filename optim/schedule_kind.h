// What is registered of a schedule: how it is written, and its shape along the run.
//
// One of your own registers like those of schedule.cc: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_OPTIM_SCHEDULE_KIND_H_
#define GRAPEVINE_OPTIM_SCHEDULE_KIND_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "optim/schedule.h"

namespace grapevine {

// What multiplies the base rate in a round, of those after the ramp.
using ScheduleShape = std::function<double(int64_t round)>;

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

#endif  // GRAPEVINE_OPTIM_SCHEDULE_KIND_H_
