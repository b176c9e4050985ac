// Says how often the averaged model of a run is evaluated, and on how much of the test set.
//
// A curve of three points says little, and an evaluation of all test samples costs as much as some
// rounds. Unless the user says otherwise, a run is evaluated twenty times or more, and that takes
// less than a twentieth of the time that its gradients take:
//
// - A run that is long enough is evaluated on the whole test set, after every epoch, after every
// few,
//   or twenty times where those would be fewer.
// - Any other run is evaluated at the end of every epoch and several times in between, as far as it
//   has rounds for that. It is evaluated on a sample of the test set, the same one each time: of
//   200 test samples at least, whatever that costs.
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
  double every = 1;     // interval in epochs; in rounds, without data
  int64_t samples = 0;  // test samples of an evaluation; 0: all
};

// Chooses the evaluations of a run of this many epochs and rounds, over `train` training samples
// and `test` test samples. All arguments must be positive.
EvaluationTimes ChooseEvaluations(double epochs, double rounds, int64_t train, int64_t test);

// Returns the evaluations that the settings ask for, or else the chosen ones. `data` is null for a
// model without data.
EvaluationTimes EvaluationsOf(const Config& config, const RunExtent& run, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EVALUATION_TIMES_H_
