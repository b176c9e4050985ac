#include "experiment/core/evaluation_times.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "experiment/core/setting_checks.h"
#include "model/data/dataset.h"
#include "optim/run_position.h"
#include "run/config/config.pb.h"

namespace grapevine {

namespace {

constexpr double kWanted = 20;
// The share of the gradients' time that evaluations may take. A gradient takes a pass forward and
// two backward, an evaluation one forward.
constexpr double kShare = 0.05;
constexpr double kPassesOfGradient = 3;
// The fewest samples of an evaluation: accuracies of fewer say nothing.
constexpr double kLeastSamples = 200;
// The fewest rounds between two evaluations: each evaluation moves all replicas to where they are
// averaged.
constexpr double kRoundsBetween = 2;

bool DecidesAboutTheRun(const Config& config) {
  return config.has_target_accuracy() || GrowsAtPlateaus(config);
}

// Returns the interval, in epochs, that gives the wanted number of evaluations, as far as the run
// has rounds for them. The end of every epoch is among the evaluations.
double Every(double epochs, double rounds) {
  const double most = rounds / kRoundsBetween;
  if (epochs < 1) return epochs / std::max(1.0, std::floor(std::min(kWanted, most)));
  return 1 / std::max(1.0, std::min(std::ceil(kWanted / epochs), std::floor(most / epochs)));
}

}  // namespace

EvaluationTimes ChooseEvaluations(double epochs, double rounds, int64_t train, int64_t test) {
  const double affordable = kShare * kPassesOfGradient * epochs * static_cast<double>(train);
  const double of_all = affordable / static_cast<double>(test);
  if (of_all >= kWanted) {
    const double every = std::ceil(epochs / of_all);
    return {.every = epochs / every >= kWanted ? every : epochs / kWanted};
  }
  const double every = Every(epochs, rounds);
  const auto samples = static_cast<int64_t>(std::max(kLeastSamples, affordable * every / epochs));
  return {.every = every, .samples = samples < test ? samples : 0};
}

EvaluationTimes EvaluationsOf(const Config& config, const RunExtent& run, const TrainTest* data) {
  if (config.eval_every() > 0 || data == nullptr || DecidesAboutTheRun(config)) {
    return {.every = config.eval_every() > 0 ? config.eval_every() : 1,
            .samples = config.eval_samples()};
  }
  const double rounds = static_cast<double>(run.rounds);
  EvaluationTimes chosen = ChooseEvaluations(rounds / run.rounds_per_epoch, rounds,
                                             data->train->size(), data->test->size());
  if (config.eval_samples() > 0) chosen.samples = config.eval_samples();
  return chosen;
}

}  // namespace grapevine
