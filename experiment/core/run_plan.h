// How long a run is and how its batch grows, from its settings and the size of its data set: the
// one place where rounds become samples, for nodes, simulator, measurements and schedules.
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

// The samples that so many workers together see in round 0.
int64_t FirstGlobalBatch(const Config& config, Rank workers);

// For how many nodes the run was planned: fewer or more go on with it (--planned-nodes). And how
// many workers they have, of whom there are `workers` now.
Rank PlannedNodes(const Config& config);
Rank PlannedWorkers(const Config& config, Rank workers);

// Whether another program computes its gradients, and says when it has given the last one
// (node/control/closing.h): it has kOpenEndedRounds.
bool IsOpenEnded(const Config& config);

// Where the batch grows at plateaus, this is what is known so far: everything up to the round at
// which it may grow next (Grown).
struct RunPlan {
  // In rounds of the first batch; without data, epochs are such rounds, too.
  RunExtent extent;
  BatchSchedule batches;
  // That they are in fact; as far as is known, where the batch may still grow: then never more.
  Round rounds = 0;
  bool open_ended = false;  // `rounds` are the most there can be, until it closes
  int64_t passes = 1;       // of --batch samples in a round of the first batch: --accumulate
  // In first batches; 0: never.
  double evaluate_every = 0;
  int64_t evaluation_samples = 0;  // of the test set, before the last evaluation; 0: all
  int64_t measure_every = 1;
  bool measure_by_rounds = false;  // `measure_every` is in rounds
  // Workers who share the data set in rounds; 0: there is none, or what some do not do others will.
  Rank sharing = 0;
  // How many train from a round on, once some are lost or others have come (Among); in the order
  // of rounds.
  struct Living {
    Round from = 0;
    Rank workers = 0;
  };
  std::vector<Living> living = {};

  // What a node's gradient of `round` is the mean of.
  Passes PassesIn(Round round) const {
    return {.first = passes * batches.Before(round), .count = passes * batches.Growth(round)};
  }
  // That a gradient is ever the mean of.
  int64_t MostPasses() const { return passes * batches.LargestGrowth(); }
  // Passes over the data set by all nodes together, in so many rounds.
  double Epoch(Round completed) const { return Seen(completed) / extent.rounds_per_epoch; }
  // The samples that these are, in first batches of all workers that the run was planned for.
  double Seen(Round completed) const;
  // Whether the averaged model is evaluated, and whether metrics are taken, after so many rounds.
  // What is evaluated is also measured.
  bool Evaluated(Round completed) const;
  bool Measured(Round completed) const;
  // How many test samples that evaluation looks at; 0: all.
  int64_t EvaluationSamples(Round completed) const;
  // The first evaluation after so many rounds; the last round, if there is none.
  Round NextEvaluation(Round completed) const;

  // With a batch of `growth` first ones from this round on, the last one that is known.
  RunPlan Grown(Round from, int64_t growth) const;
  // With so many workers from this round on, the last one from which that is known. The run's
  // rounds stay, and so do their measurements and evaluations; fewer see fewer samples.
  RunPlan Among(Round from, Rank workers) const;
  // An open-ended one, with so many rounds.
  RunPlan Closed(Round rounds) const;

 private:
  // The multiples of evaluate_every in so many rounds.
  double MultiplesBy(Round completed) const;
};

// For the planned ones, where others go on. `data`: null for a model without. Errors are kUsage and
// name the flag.
absl::StatusOr<RunPlan> PlanRun(const Config& config, Rank workers, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_
