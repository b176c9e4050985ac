#include "experiment/simulated/round_times.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"
#include "sim/engine/vector_store.h"

namespace grapevine {
namespace {

class RoundEnds final : public SimObserver {
 public:
  explicit RoundEnds(Round rounds) : ends_(rounds + 1, 0) {}

  absl::Status OnCut(const CutTimes& cut, Vec) override {
    if (cut.round >= static_cast<Round>(ends_.size())) return absl::OkStatus();
    ends_[cut.round] = std::max(ends_[cut.round], cut.now);
    return absl::OkStatus();
  }

  std::vector<Nanoseconds> Take() { return std::move(ends_); }

 private:
  std::vector<Nanoseconds> ends_;
};

}  // namespace

absl::StatusOr<std::vector<Nanoseconds>> RoundTimes(const Experiment& experiment,
                                                    const SimulatedCluster& cluster, Round rounds,
                                                    const std::atomic<bool>* interrupted) {
  const auto course = experiment.NewCourse();
  const auto compute = experiment.MakeCompute(course.get());
  PhantomVectors vectors(experiment.layout().size, experiment.optimizer().step_vectors());
  RoundEnds ends(rounds);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Simulation> simulation,
      Simulation::Make(
          cluster.options(experiment),
          {.make_network = [&](AlarmClock* alarms) { return cluster.network().Make(alarms); },
           .make_algorithm =
               [&](Rank rank) { return experiment.MakeAlgorithm(rank, course.get()); },
           .vectors = &vectors,
           .compute = compute.get(),
           .effects = cluster.effects(),
           .observer = &ends,
           .interrupted = interrupted}));
  RETURN_IF_ERROR(simulation->Run(rounds));
  return ends.Take();
}

}  // namespace grapevine
