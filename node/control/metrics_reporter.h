// Tells rank 0 what a node measures, and loses none of it when rank 0 is slow.
//
// While the node trains, nothing waits: a report that finds no room in the queue is kept and added
// to the next one. Once it has trained, there is no next one, and reports wait for room.
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

// Adds the losses, samples and noise of an earlier report of the same node. They are sums over the
// rounds since the last report, so a report that is not used by itself is added to the next one.
void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report);

class MetricsReporter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Queues a report, waiting for room until `deadline` if it must (GrpcControlClient::SendBefore):
  // ResourceExhausted when there is none, another error when the run is over.
  using Send = std::function<absl::Status(Time deadline, control::Report report)>;

  explicit MetricsReporter(Send send) : send_(std::move(send)) {}

  // Reports what was measured since the last call. Does not wait.
  void Report(control::NodeMetrics metrics);
  // Sends what was kept, then `last`. The error says that they could not be sent.
  absl::Status Tell(control::Report last, Time deadline);

 private:
  absl::Status SendKept(Time deadline);

  const Send send_;
  std::optional<control::NodeMetrics> kept_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_METRICS_REPORTER_H_
