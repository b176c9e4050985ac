// How often the averaged model of a run is evaluated, and on how much of the test set.
//
// A curve of three points says little, and an evaluation of all test samples costs as much as some
// rounds. Unless the user says otherwise, a run is evaluated twenty times or more, and that takes
// less than a twentieth of what its gradients take:
//
// - on the whole test set, after every epoch or every few, where the run is long enough;
// - else at the end of every epoch and several times in between, as far as there are rounds for it,
// on
//   a sample of the test set, the same one each time: of 200 at least, whatever that costs.
//
// The last evaluation is on the whole test set, and is not counted here. Where evaluations decide
// about the run (--target-accuracy, --batch-schedule=plateau), they are on the whole test set,
// after every epoch.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EVALUATION_TIMES_H_
#define GRAPEVINE_EXPERIMENT_CORE_EVALUATION_TIMES_H_

#include <cstdint>

#include "model/data/dataset.h"
#include "optim/run_position.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct EvaluationTimes {
  double every = 1;     // in epochs; in rounds, without data
  int64_t samples = 0;  // of the test set; 0: all
};

// A run of so many epochs and rounds, over so many training and test samples, all positive.
EvaluationTimes ChooseEvaluations(double epochs, double rounds, int64_t train, int64_t test);

// As the settings say, or as chosen. `data`: null for a model without.
EvaluationTimes EvaluationsOf(const Config& config, const RunExtent& run, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EVALUATION_TIMES_H_
