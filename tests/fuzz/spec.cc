// name:argument:key=value (base/spec.h), and what is built from such a text: graphs
// and schedules.
#include "base/spec.h"

#include <glog/logging.h>

#include <cmath>

#include "optim/learning_rate.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

FUZZ_TARGET(spec) {
  const std::string text(fuzz::Text(data, size));
  const auto spec = ParseSpec(text);
  if (!spec.ok()) {
    fuzz::RequireClass(spec.status(), Failure::kUsage);
    return;
  }
  CHECK(!spec->name.empty());
  if (spec->name != "file") {
    const auto topology = MakeTopology(text, 8, 1);
    if (!topology.ok()) fuzz::RequireClass(topology.status(), Failure::kUsage);
    if (topology.ok()) CHECK_EQ((*topology)->size(), 8);
  }
  constexpr int64_t kRounds = 200;
  const auto schedule =
      MakeSchedule(text, {.rate = 0.4, .run = {.rounds_per_epoch = 20, .rounds = kRounds}});
  if (!schedule.ok()) {
    fuzz::RequireClass(schedule.status(), Failure::kUsage);
    return;
  }
  for (int64_t round = 0; round < kRounds; ++round) CHECK_GE((*schedule)(round), 0);
}

}  // namespace
}  // namespace grapevine
