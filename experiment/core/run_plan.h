// Says how long a run is and how its batch grows, from its settings and the size of its data set:
// the one place where rounds become samples, for nodes, simulator, measurements and schedules.
//
// Thread-safety: values and pure functions.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "model/data/dataset.h"
#include "optim/batch_schedule.h"
#include "optim/run_position.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Returns the number of samples that this many workers together see in round 0.
int64_t FirstGlobalBatch(const Config& config, Rank workers);

// Return the number of nodes that the run was planned for (--planned-nodes), with which fewer or
// more nodes may go on, and the number of workers among them. `workers` is the number of workers in
// the run that goes on.
Rank PlannedNodes(const Config& config);
Rank PlannedWorkers(const Config& config, Rank workers);

// Whether another program computes the gradients of the run, and says when it has given the last
// one (node/control/closing.h). The length of such a run is kOpenEndedRounds.
bool IsOpenEnded(const Config& config);

// The plan of a run. If the batch grows at plateaus, the plan is what is known so far: everything
// up to the round at which the batch may grow next (Grown).
struct RunPlan {
  // The length of the run in rounds of the first batch. Without data, epochs are such rounds, too.
  RunExtent extent;
  BatchSchedule batches;
  // The actual number of rounds. If the batch may still grow, it is the number that is known so
  // far, and never becomes more.
  Round rounds = 0;
  bool open_ended = false;  // `rounds` is the most there can be, until the run is closed
  // The passes, of --batch samples each, in a round of the first batch: --accumulate.
  int64_t passes = 1;
  // The interval between evaluations, in first batches; 0: never.
  double evaluate_every = 0;
  int64_t evaluation_samples = 0;  // test samples of an evaluation before the last; 0: all
  int64_t measure_every = 1;
  bool measure_by_rounds = false;  // `measure_every` is in rounds
  // The number of workers that share the data set in rounds; 0 without a data set, or if the
  // other workers do what a lost one does not.
  Rank sharing = 0;
  // The number of workers that train from a round on, once some are lost or others have come in
  // (Among); in ascending order of rounds.
  struct Living {
    Round from = 0;
    Rank workers = 0;
  };
  std::vector<Living> living = {};

  // Returns the passes whose mean is a node's gradient of `round`.
  Passes PassesIn(Round round) const {
    return {.first = passes * batches.Before(round), .count = passes * batches.Growth(round)};
  }
  // Returns the largest number of passes whose mean is a gradient.
  int64_t MostPasses() const { return passes * batches.LargestGrowth(); }
  // Returns the passes over the data set by all nodes together, in this number of rounds.
  double Epoch(Round completed) const { return Seen(completed) / extent.rounds_per_epoch; }
  // Returns the samples in this number of rounds, in first batches of all workers that the run was
  // planned for.
  double Seen(Round completed) const;
  // Whether the averaged model is evaluated, and whether metrics are taken, after this number of
  // rounds. Metrics are taken whenever the model is evaluated.
  bool Evaluated(Round completed) const;
  bool Measured(Round completed) const;
  // Returns the number of test samples in the evaluation after this number of rounds; 0: all.
  int64_t EvaluationSamples(Round completed) const;
  // Returns the round of the first evaluation after this number of rounds; the last round of the
  // run if no evaluation follows.
  Round NextEvaluation(Round completed) const;

  // Returns the plan with a batch of `growth` first batches from round `from` on, which must not be
  // before the last round whose batch is known.
  RunPlan Grown(Round from, int64_t growth) const;
  // Returns the plan with this number of workers from round `from` on; what was known of later
  // rounds is dropped. The run's rounds stay, and so do their measurements and evaluations; fewer
  // workers see fewer samples.
  RunPlan Among(Round from, Rank workers) const;
  // Returns the plan of an open-ended run that ends after this number of rounds.
  RunPlan Closed(Round rounds) const;

 private:
  // Returns the number of multiples of evaluate_every in this number of rounds.
  double MultiplesBy(Round completed) const;
};

// Returns the plan of a run. If a run goes on with other workers than it was planned for, the plan
// is for the planned ones. `data` is null for a model without data. Errors are kUsage and name the
// flag.
absl::StatusOr<RunPlan> PlanRun(const Config& config, Rank workers, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_
