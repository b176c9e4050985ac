#include "node/node_report.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

control::Heartbeat HeartbeatOf(const NodeActivity& activity) {
  const Progress& progress = activity.progress;
  control::Heartbeat heartbeat;
  heartbeat.set_round(progress.round);
  heartbeat.set_progress(progress.round + activity.counters.bytes_sent +
                         activity.counters.bytes_received + activity.evaluated_batches);
  if (activity.trained) {
    heartbeat.set_state("evaluating and writing its results");
  } else if (!activity.connecting.empty()) {
    // The attempt ends by itself, with an error that has the peer's address and the obstacle.
    heartbeat.set_state(absl::StrCat("connecting to ", activity.connecting));
  } else {
    heartbeat.set_state(progress.doing);
    for (const Rank peer : progress.waiting_for) heartbeat.add_waiting_for(peer);
  }
  return heartbeat;
}

control::Steps StepsOf(const StepsReport& steps) {
  control::Steps report;
  report.set_steps(steps.steps);
  report.set_resting(steps.resting);
  report.set_cut(steps.cut);
  return report;
}

control::Failure FailureBy(Rank culprit, const absl::Status& why) {
  control::Failure failure;
  failure.set_culprit(culprit);
  failure.set_message(std::string(why.message()));
  failure.set_failure(ExitCode(why));
  failure.set_proven(absl::IsDataLoss(why) || absl::IsInvalidArgument(why));
  return failure;
}

}  // namespace grapevine
