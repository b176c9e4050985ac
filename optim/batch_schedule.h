// Says how a run's batch grows: larger batches instead of smaller rates (Smith et al.,
// arXiv:1711.00489), which give the same noise of a step in fewer steps.
//
//   none
//   step:at=P+P:factor=F    times F, a whole number, at each position, ascending (at=50%+75%,
//                           factor=2), positions as in optim/run_position.h
//   plateau:factor=F:patience=K:threshold=T:most=M
//                           times F, up to M times, when the loss has not fallen by the share T in
//                           K evaluations (factor=2, patience=2, threshold=0.01, most=3;
//                           PlateauRule); only the run shows in which rounds
//
// When batches grow, rounds no longer measure time. The batch of round 0 does so throughout: a
// run's length, epochs, positions and schedules all count in such *first batches*, and this class
// alone says which rounds they are. Where nothing grows, first batches are the rounds.
//
// Thread-safety: schedules are values.
#ifndef GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_
#define GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/spec.h"
#include "optim/run_position.h"

namespace grapevine {

// Says how a run's batch grows at plateaus: if the loss does not fall by the share `threshold` of
// the lowest one in `patience` evaluations in a row, the batch is multiplied by `factor`, at most
// `most` times in all.
struct PlateauRule {
  int64_t factor = 2;
  int64_t patience = 2;
  double threshold = 0.01;
  int64_t most = 3;
};

// Says when the loss has stopped falling. It is told of a run's evaluations, in order.
// Thread-compatible.
class PlateauWatch {
 public:
  explicit PlateauWatch(const PlateauRule& rule) : rule_(rule) {}

  // Whether the batch is to grow because of this evaluation. The decision takes effect after the
  // next evaluation. The model of that evaluation has not seen the larger batch yet, so that it
  // does not count as one without progress. A loss that is not finite is no progress.
  bool OnLoss(double loss);

 private:
  bool Improves(double loss) const;

  const PlateauRule rule_;
  std::optional<double> lowest_;
  int64_t without_progress_ = 0;  // evaluations in a row
  int64_t grown_ = 0;
  bool takes_effect_next_ = false;  // the last decision takes effect after the next evaluation
};

class BatchSchedule {
 public:
  // The batch from `round` on.
  struct Stage {
    int64_t round = 0;
    int64_t before = 0;  // first batches that the rounds before have seen
    int64_t growth = 1;  // the batch, in first batches
  };

  // Makes the schedule whose rounds all have one first batch.
  BatchSchedule() = default;
  // Reads `spec`. `run` is the run's length in first batches. Errors name the spec and what is
  // known or allowed.
  static absl::StatusOr<BatchSchedule> Make(std::string_view spec, const RunExtent& run);

  // Returns the rule, if the batch grows at plateaus. The stages are then those that are known so
  // far.
  const std::optional<PlateauRule>& plateau() const { return plateau_; }
  // Returns the stages in ascending order of rounds; never empty.
  const std::vector<Stage>& stages() const { return stages_; }
  // Sets the batch to `growth` from `round` on. `round` must be in the last stage, and `growth`
  // must not be less than that stage's.
  void GrowFrom(int64_t round, int64_t growth);

  // Return the batch of this round, and the largest that the batch can become, in first batches.
  int64_t Growth(int64_t round) const { return StageOf(round).growth; }
  int64_t LargestGrowth() const;
  // Returns what the rounds before this one have seen, in first batches.
  int64_t Before(int64_t round) const;
  // Returns the fewest rounds that see this number of first batches.
  int64_t RoundsFor(int64_t first_batches) const;

 private:
  absl::Status ReadSteps(const Spec& spec, SpecReader& reader, const RunExtent& run);
  absl::Status ReadPlateaus(const Spec& spec, SpecReader& reader);
  const Stage& StageOf(int64_t round) const;
  void Add(double position, int64_t factor);

  std::vector<Stage> stages_ = {{}};
  std::optional<PlateauRule> plateau_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_
