// --target-accuracy: a run whose end is not known beforehand.
//
// The end is known one evaluation ahead: no real node waits for an evaluation, and a run
// continues for at most one interval after the target is reached. The evaluation that met it is
// the one that counts.
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
  // For a run of `rounds` rounds, evaluated where `evaluated` says so. Without an `accuracy` (a
  // fraction) there is no target.
  AccuracyTarget(std::optional<double> accuracy, int64_t rounds,
                 std::function<bool(int64_t completed)> evaluated);

  // The rounds that may begin before the result of the next evaluation is known: all of them if
  // there is no target.
  int64_t limit() const { return limit_; }
  // Whether the run ends at `limit`.
  bool final() const { return reached_ || limit_ >= rounds_; }
  bool reached() const { return reached_; }

  // Whether there is a target and a model of this accuracy meets it.
  bool Met(const std::optional<double>& test_accuracy) const;

  // Moves the limit according to an evaluation; returns whether it may have changed.
  bool OnEvaluation(const EvaluationRecord& evaluation);

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
