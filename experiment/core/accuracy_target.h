// --target-accuracy: the end of a run that nobody knows beforehand.
//
// The end is known one evaluation ahead: no real node waits for an evaluation, and a run
// goes on for at most one interval once the target is reached. What counts is the
// evaluation that met it.
#ifndef GRAPEVINE_EXPERIMENT_CORE_ACCURACY_TARGET_H_
#define GRAPEVINE_EXPERIMENT_CORE_ACCURACY_TARGET_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "run/records/metrics.h"

namespace grapevine {

// Thread-compatible.
class AccuracyTarget {
 public:
  // A run of `rounds` rounds that are evaluated where `evaluated` says so. Without an
  // `accuracy` (a fraction) there is no target.
  AccuracyTarget(std::optional<double> accuracy, int64_t rounds,
                 std::function<bool(int64_t completed)> evaluated);

  // The rounds that may be begun before the first evaluation is there: all of
  // them when there is no target.
  int64_t limit() const { return limit_; }
  // Whether `limit` is where the run ends.
  bool final() const { return reached_ || limit_ >= rounds_; }
  bool reached() const { return reached_; }

  // Whether a model of this accuracy meets the target, where there is one.
  bool Met(const std::optional<double>& test_accuracy) const;

  // Moves the limit by what an evaluation says; whether it may have changed.
  bool OnEvaluation(const ModelEvaluation& evaluation);

 private:
  int64_t NextEvaluation(int64_t completed) const;

  const std::optional<double> accuracy_;
  const int64_t rounds_;
  const std::function<bool(int64_t)> evaluated_;
  int64_t limit_;
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_ACCURACY_TARGET_H_
