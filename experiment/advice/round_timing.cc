#include "experiment/advice/round_timing.h"

#include <algorithm>
#include <memory>

#include "base/failure.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "experiment/simulated/simulated_cluster.h"
#include "sim/engine/phantom_vectors.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"

namespace grapevine {
namespace {

class RoundClock final : public SimObserver {
 public:
  explicit RoundClock(const RoundTimingOptions& options) : options_(options) {}

  absl::Status OnBoundary(Rank, Round completed, Nanoseconds now, Vec) override {
    if (options_.interrupted != nullptr && *options_.interrupted) {
      return InterruptedError("interrupted");
    }
    if (completed == options_.warm_up) begin_ = std::max(begin_, now);
    if (completed == options_.warm_up + options_.measured) end_ = std::max(end_, now);
    return absl::OkStatus();
  }

  double seconds_per_round() const {
    return Seconds(end_ - begin_) / static_cast<double>(options_.measured);
  }

 private:
  const RoundTimingOptions options_;
  Nanoseconds begin_ = 0;
  Nanoseconds end_ = 0;
};

}  // namespace

absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SimulatedCluster> made, SimulatedCluster::Make(cluster));
  PhantomVectors vectors(experiment.layout().size, experiment.optimizer().state_vectors());
  RoundClock clock(options);
  const absl::StatusOr<std::unique_ptr<Simulation>> simulation = Simulation::Make(
      made->options(),
      {.make_network = [&](AlarmClock* alarms) { return made->network().Make(alarms); },
       .make_algorithm = [&](Rank rank) { return experiment.MakeAlgorithm(rank); },
       .vectors = &vectors,
       .compute = experiment.compute(),
       .effects = made->effects(),
       .observer = &clock});
  if (!simulation.ok()) return simulation.status();
  RETURN_IF_ERROR((*simulation)->Run(options.warm_up + options.measured));
  return clock.seconds_per_round();
}

}  // namespace grapevine
