// What observers can see of a running simulation, for metrics, statistics and traces.
#ifndef GRAPEVINE_SIM_ENGINE_SIM_OBSERVER_H_
#define GRAPEVINE_SIM_ENGINE_SIM_OBSERVER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "kernels/vector/vector_handle.h"
#include "sim/nanoseconds.h"

namespace grapevine {

struct GradientTimes {
  Rank rank;
  Round round;
  double loss;  // loss of the batch; 0 for a phantom
  Nanoseconds begin;
  Nanoseconds end;
  GradientNoise noise = {};                 // noise of the gradient, if measured
  std::span<const TensorNorms> norms = {};  // norms by tensor, if measured; valid during the call
};

struct MessageTimes {
  Rank from;
  Rank to;
  Tag tag;
  SendId id;    // the sender's number for it
  Round round;  // the receiver's round for which it was posted; 0 until it begins
  int64_t bytes;
  Note note;
  Nanoseconds asked;    // the sender requests it
  Nanoseconds begun;    // the first byte leaves, as the credit has arrived
  Nanoseconds left;     // the last byte leaves
  Nanoseconds arrived;  // the last byte arrives
};

// The moment at which a node is measured.
struct CutTimes {
  Rank rank;
  Round round;      // nominal where nodes share a budget of gradients, otherwise the node's own
  Round completed;  // the node's own rounds (steps) whose messages have all been sent and received
  Nanoseconds now;
};

// Calls come in the order of simulated time. A method that is not overridden costs one empty call.
class SimObserver {
 public:
  virtual ~SimObserver() = default;
  virtual void OnGradient(const GradientTimes& gradient) {}
  virtual void OnMessage(const MessageTimes& message) {}
  // The algorithm of `rank` is about to hear of a message, maybe later than the message arrived.
  virtual void OnReceived(Rank rank, const Received& event) {}
  // The algorithm of `rank` is about to hear that a message does not come any more.
  virtual void OnLost(Rank rank, const Lost& event) {}
  // Mixing and stepping on the exchange lane of `rank`.
  virtual void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {}
  // Node `rank` has completed `completed` rounds. `model` may be read during the call, and is the
  // null vector for a parameter server. The algorithm's state can be visited
  // (Simulation::VisitState). An error ends the simulation.
  virtual absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) {
    return absl::OkStatus();
  }
  // A node begins a view for the checkpoint of `cut.round`, and its state can be visited. For
  // `model` see OnBoundary. An error ends the simulation.
  virtual absl::Status OnCheckpoint(const CutTimes& cut, Vec model) { return absl::OkStatus(); }
  // The time that was given to Simulation::WakeAt has come. An error ends the simulation.
  virtual absl::Status OnWake(Nanoseconds now) { return absl::OkStatus(); }
  // Node `rank` dies: it does nothing any more. An error ends the simulation.
  virtual absl::Status OnDeath(Rank rank, Nanoseconds now) { return absl::OkStatus(); }
  // Node `rank` joins again, and begins at round `from`. An error ends the simulation.
  virtual absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) { return absl::OkStatus(); }
  // Called for every node after every round; where nodes share a budget of gradients, at the node's
  // first boundary, or first moment of rest, after each nominal round. For `model` see OnBoundary.
  // An error ends the simulation.
  virtual absl::Status OnCut(const CutTimes& cut, Vec model) { return absl::OkStatus(); }
};

// Calls the observers in the order in which they were added. Thread-compatible.
class ObserverGroup final : public SimObserver {
 public:
  // `observer` must outlive the group.
  void Add(SimObserver* observer) { observers_.push_back(observer); }

  void OnGradient(const GradientTimes& gradient) override {
    for (SimObserver* observer : observers_) observer->OnGradient(gradient);
  }
  void OnMessage(const MessageTimes& message) override {
    for (SimObserver* observer : observers_) observer->OnMessage(message);
  }
  void OnReceived(Rank rank, const Received& event) override {
    for (SimObserver* observer : observers_) observer->OnReceived(rank, event);
  }
  void OnLost(Rank rank, const Lost& event) override {
    for (SimObserver* observer : observers_) observer->OnLost(rank, event);
  }
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override {
    for (SimObserver* observer : observers_) observer->OnArithmetic(rank, begin, end);
  }
  // Calls all, and returns the first error.
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override {
    absl::Status status;
    for (SimObserver* observer : observers_) {
      status.Update(observer->OnBoundary(rank, completed, now, model));
    }
    return status;
  }
  absl::Status OnCheckpoint(const CutTimes& cut, Vec model) override {
    absl::Status status;
    for (SimObserver* observer : observers_) status.Update(observer->OnCheckpoint(cut, model));
    return status;
  }
  absl::Status OnWake(Nanoseconds now) override {
    absl::Status status;
    for (SimObserver* observer : observers_) status.Update(observer->OnWake(now));
    return status;
  }
  absl::Status OnDeath(Rank rank, Nanoseconds now) override {
    absl::Status status;
    for (SimObserver* observer : observers_) status.Update(observer->OnDeath(rank, now));
    return status;
  }
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override {
    absl::Status status;
    for (SimObserver* observer : observers_) status.Update(observer->OnReturn(rank, from, now));
    return status;
  }
  absl::Status OnCut(const CutTimes& cut, Vec model) override {
    absl::Status status;
    for (SimObserver* observer : observers_) status.Update(observer->OnCut(cut, model));
    return status;
  }

 private:
  std::vector<SimObserver*> observers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_SIM_OBSERVER_H_
