// When a loss has stopped falling: for batches that grow at plateaus (optim/batch_schedule.h).
//
// Thread-compatible.
#ifndef GRAPEVINE_OPTIM_PLATEAU_H_
#define GRAPEVINE_OPTIM_PLATEAU_H_

#include <cstdint>
#include <optional>

namespace grapevine {

// What becomes of a run whose loss does not fall by the share `threshold` of the lowest one in
// `patience` evaluations on end: its batch is multiplied by `factor`, `most` times in all.
struct PlateauRule {
  int64_t factor = 2;
  int64_t patience = 2;
  double threshold = 0.01;
  int64_t most = 3;
};

// Told of a run's evaluations, in order.
class PlateauWatch {
 public:
  explicit PlateauWatch(const PlateauRule& rule) : rule_(rule) {}

  // Whether the batch is to grow because of this evaluation. What is decided takes effect after the
  // next one, whose model has not seen the larger batch yet: that one does not count as one without
  // progress. A loss that is no finite number is no progress.
  bool OnLoss(double loss);

 private:
  bool Improves(double loss) const;

  const PlateauRule rule_;
  std::optional<double> lowest_;
  int64_t without_progress_ = 0;  // evaluations on end
  int64_t grown_ = 0;
  bool takes_effect_next_ = false;  // of the last decision
};

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_PLATEAU_H_
