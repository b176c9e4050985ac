// A simulation as a trace: what every node computed, sent, received and waited for.
#ifndef GRAPEVINE_SIM_ENGINE_SIM_TRACE_H_
#define GRAPEVINE_SIM_ENGINE_SIM_TRACE_H_

#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "run/trace/run_trace.h"
#include "sim/engine/sim_observer.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// Thread-compatible.
class SimTrace final : public SimObserver {
 public:
  // `trace` outlives this and is finished by its owner.
  SimTrace(Rank nodes, ChromeTrace* trace);

  void OnGradient(const GradientTimes& gradient) override;
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;

 private:
  struct Node {
    Nanoseconds began = 0;         // the current step
    Nanoseconds busy_until = 0;    // the exchange lane
    Nanoseconds gradient_end = 0;  // of the current step, -1 until it is done
    Rank last_sender = 0;
  };

  // The exchange lane goes on at `now`: the time before that, once the gradient was done, was
  // waiting for the last sender.
  void EndWait(Rank rank, Nanoseconds now);

  RunTrace trace_;
  std::vector<Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_SIM_TRACE_H_
