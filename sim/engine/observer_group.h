// Several observers of one simulation.
#ifndef GRAPEVINE_SIM_ENGINE_OBSERVER_GROUP_H_
#define GRAPEVINE_SIM_ENGINE_OBSERVER_GROUP_H_

#include <vector>

#include "absl/status/status.h"
#include "sim/engine/sim_observer.h"

namespace grapevine {

// Tells each in the order in which they were added. Thread-compatible.
class ObserverGroup final : public SimObserver {
 public:
  // `observer` outlives the group.
  void Add(SimObserver* observer) { observers_.push_back(observer); }

  void OnGradient(const GradientTimes& gradient) override {
    for (SimObserver* observer : observers_) observer->OnGradient(gradient);
  }
  void OnMessage(const MessageTimes& message) override {
    for (SimObserver* observer : observers_) observer->OnMessage(message);
  }
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override {
    for (SimObserver* observer : observers_) observer->OnArithmetic(rank, begin, end);
  }
  // All are told, and the first error is returned.
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override {
    absl::Status status;
    for (SimObserver* observer : observers_) {
      status.Update(observer->OnBoundary(rank, completed, now, model));
    }
    return status;
  }

 private:
  std::vector<SimObserver*> observers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_OBSERVER_GROUP_H_
