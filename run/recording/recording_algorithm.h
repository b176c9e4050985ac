// An algorithm whose events are noted, in the order in which it sees them.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDING_ALGORITHM_H_
#define GRAPEVINE_RUN_RECORDING_RECORDING_ALGORITHM_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "algorithm/algorithm.h"

namespace grapevine {

class RecordingAlgorithm final : public Algorithm {
 public:
  // Receives every event before the algorithm does. Its error ends the run.
  using Recorder = std::function<absl::Status(const Event&)>;

  RecordingAlgorithm(std::unique_ptr<Algorithm> algorithm, Recorder record)
      : algorithm_(std::move(algorithm)), record_(std::move(record)) {}

  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Prepare>(event) || std::holds_alternative<ViewChanged>(event)) {
      return absl::UnimplementedError("a change of members cannot be recorded; leave out --record");
    }
    absl::Status status = record_(event);
    return status.ok() ? algorithm_->On(event, host) : status;
  }
  absl::Status VisitState(StateVisitor& state, Host& host) override {
    return algorithm_->VisitState(state, host);
  }
  Round round() const override { return algorithm_->round(); }
  std::vector<Waiting> waiting_for() const override { return algorithm_->waiting_for(); }
  std::vector<Rank> Peers(Round from, Round to) const override {
    return algorithm_->Peers(from, to);
  }

 private:
  const std::unique_ptr<Algorithm> algorithm_;
  const Recorder record_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_ALGORITHM_H_
