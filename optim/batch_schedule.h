// How a run's batch grows: larger batches instead of smaller rates (Smith et al.,
// arXiv:1711.00489), which give the same noise of a step in fewer steps.
//
//   none
//   step:at=P+P:factor=F    times F, a whole number, at each position, ascending (at=50%+75%,
//                           factor=2), positions as in optim/run_position.h
//
// When batches grow, rounds are no measure of time any more. What is one throughout is the batch of
// round 0: a run's length, epochs, positions and schedules all count in such *first batches*, and
// this class alone says which rounds they are. Where nothing grows, they are the rounds.
//
// Thread-safety: an immutable value.
#ifndef GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_
#define GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optim/run_position.h"

namespace grapevine {

class BatchSchedule {
 public:
  // One first batch in every round.
  BatchSchedule() = default;
  // `run` is the run's length in first batches. Errors name the spec and what is known or allowed.
  static absl::StatusOr<BatchSchedule> Make(std::string_view spec, const RunExtent& run);

  // The batch of this round, in first batches; and the most that it becomes.
  int64_t Growth(int64_t round) const { return StageOf(round).growth; }
  int64_t LargestGrowth() const { return stages_.back().growth; }
  // What the rounds before this one have seen, in first batches.
  int64_t Before(int64_t round) const;
  // The fewest rounds that see so many first batches.
  int64_t RoundsFor(int64_t first_batches) const;

 private:
  // From a round on.
  struct Stage {
    int64_t round = 0;
    int64_t before = 0;  // first batches
    int64_t growth = 1;
  };

  const Stage& StageOf(int64_t round) const;
  void Add(double position, int64_t factor);

  std::vector<Stage> stages_ = {{}};  // in ascending order of rounds
};

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_BATCH_SCHEDULE_H_
