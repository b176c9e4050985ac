// Tells rank 0 what a node measures, and loses nothing of it where rank 0 is slow.
//
// While the node trains nothing waits: a report that finds no place in the queue is kept and
// goes on into the next one. Once it has trained there is no next one, and places are waited
// for.
//
// Thread-compatible; functions are pure.
#ifndef GRAPEVINE_NODE_CONTROL_METRICS_REPORTER_H_
#define GRAPEVINE_NODE_CONTROL_METRICS_REPORTER_H_

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "node/control/control.pb.h"

namespace grapevine {

// Losses and samples are sums over the rounds since the last report, so they go on into the
// next one where a report is not used by itself.
// Adds the losses and samples of an earlier report of the same node.
void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report);

class MetricsReporter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Queues a report, for which it waits until `deadline` where it must (GrpcControlClient's
  // SendBefore): ResourceExhausted when there is no place, another error when the run is over.
  using Send = std::function<absl::Status(Time deadline, control::Report report)>;

  explicit MetricsReporter(Send send) : send_(std::move(send)) {}

  // What was measured since the last call. Does not wait.
  void Report(control::NodeMetrics metrics);
  // What is kept, then `last`. The error says that they could not be sent.
  absl::Status Tell(control::Report last, Time deadline);

 private:
  absl::Status SendKept(Time deadline);

  const Send send_;
  std::optional<control::NodeMetrics> kept_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_METRICS_REPORTER_H_
