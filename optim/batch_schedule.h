// How a run's batch grows: larger batches instead of smaller rates (Smith et al.,
// arXiv:1711.00489), which give the same noise of a step in fewer steps.
//
//   none
//   step:at=P+P:factor=F    times F, a whole number, at each position, ascending (at=50%+75%,
//                           factor=2), positions as in optim/run_position.h
//   plateau:factor=F:patience=K:threshold=T:most=M
//                           times F, up to M times, when the loss has not fallen by the share T in
//                           K evaluations (factor=2, patience=2, threshold=0.01, most=3;
//                           below); from which rounds on, only the run shows
//
// When batches grow, rounds are no measure of time any more. What is one throughout is the batch of
// round 0: a run's length, epochs, positions and schedules all count in such *first batches*, and
// this class alone says which rounds they are. Where nothing grows, they are the rounds.
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

// What becomes of a run whose loss does not fall by the share `threshold` of the lowest one in
// `patience` evaluations on end: its batch is multiplied by `factor`, `most` times in all.
struct PlateauRule {
  int64_t factor = 2;
  int64_t patience = 2;
  double threshold = 0.01;
  int64_t most = 3;
};

// When the loss has stopped falling. Told of a run's evaluations, in order. Thread-compatible.
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

class BatchSchedule {
 public:
  // The batch from a round on.
  struct Stage {
    int64_t round = 0;
    int64_t before = 0;  // what the rounds before have seen, in first batches
    int64_t growth = 1;  // in first batches
  };

  // One first batch in every round.
  BatchSchedule() = default;
  // `run` is the run's length in first batches. Errors name the spec and what is known or allowed.
  static absl::StatusOr<BatchSchedule> Make(std::string_view spec, const RunExtent& run);

  // Where the batch grows at plateaus. The stages are then those that are known so far.
  const std::optional<PlateauRule>& plateau() const { return plateau_; }
  // In ascending order of rounds; never empty.
  const std::vector<Stage>& stages() const { return stages_; }
  // From this round on, which is in the last stage, the batch is `growth`, not less than there.
  void GrowFrom(int64_t round, int64_t growth);

  // The batch of this round, in first batches; and the most that it can become.
  int64_t Growth(int64_t round) const { return StageOf(round).growth; }
  int64_t LargestGrowth() const;
  // What the rounds before this one have seen, in first batches.
  int64_t Before(int64_t round) const;
  // The fewest rounds that see so many first batches.
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
