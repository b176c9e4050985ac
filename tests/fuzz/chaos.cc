// The faults of --chaos (run/chaos/fault_schedule.h), and what they are asked for.
#include <glog/logging.h>

#include <chrono>
#include <string>
#include <vector>

#include "run/chaos/fault_schedule.h"
#include "run/chaos/fault_timeline.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

const ChaosExtent kExtent{.nodes = 5, .workers = 4, .rounds = 50, .edges = {}};

void PlayTimeline(const FaultSchedule& schedule) {
  FaultTimeline timeline(schedule);
  std::chrono::nanoseconds now{0};
  for (Round round = 0; round < 3; ++round) {
    for (Rank rank = 0; rank < kExtent.nodes; ++rank) {
      timeline.OnRound(rank, round, now);
      const Rank to = (rank + 1) % kExtent.nodes;
      CHECK(timeline.Passable(rank, to, now) >= now);
      const auto end = timeline.EndOfWork(rank, now, std::chrono::seconds(1));
      CHECK(end >= now);
      CHECK(timeline.EndOfPassage(rank, to, now, std::chrono::seconds(1)) >
            timeline.Passable(rank, to, now) - std::chrono::nanoseconds(1));
    }
    timeline.TakeDue(now);
    now += std::chrono::seconds(2);
  }
}

void PlayChaos(const uint8_t* data, size_t size) {
  const std::string text(fuzz::Text(data, size));
  if (text.starts_with("file:")) return;
  const auto schedule = MakeFaultSchedule(std::vector<std::string>{text}, kExtent);
  if (!schedule.ok()) return fuzz::RequireClass(schedule.status(), Failure::kUsage);
  CHECK_LE(schedule->size(), kMaxFaults);
  for (const Fault& fault : *schedule) {
    const auto again = MakeFaultSchedule(std::vector<std::string>{FaultText(fault)}, kExtent);
    CHECK(again.ok()) << FaultText(fault) << ": " << again.status();
  }
  if (schedule->size() < 100) PlayTimeline(*schedule);
}

const fuzz::Target chaos_target("chaos", PlayChaos);

}  // namespace
}  // namespace grapevine
