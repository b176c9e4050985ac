// A sum over all ranks, in place, as messages of chunks: the part of an
// algorithm that allreduce SGD, model averaging and outer optimizers share.
//
// A collective is a nested state machine: its owner passes on the events of its
// channel. It does what a schedule says, level by level: sends once what it sent
// before has left, adds what it receives in the order of the levels, whatever
// order messages come in, and then retraces the schedule. Every rank ends with
// the same bits, since each element is summed once in one order.
//
// Receive buffers are posted up to kMaxAhead messages ahead, also of the next
// sum, so that a credit is with its sender before the data. Partial sums arrive
// in scratch memory, as much as one vector takes, or two where whole vectors
// travel (trees), or up to 16 MiB; final sums arrive in place, once what stood
// there has left.
#ifndef GRAPEVINE_ALGORITHM_COLLECTIVE_H_
#define GRAPEVINE_ALGORITHM_COLLECTIVE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce_schedule.h"
#include "algorithm/event.h"
#include "algorithm/host.h"

namespace grapevine {

// One event at a time; one sum at a time.
class Collective {
 public:
  // `channel` keeps its messages apart from those of its owner.
  Collective(std::unique_ptr<const AllreduceSchedule> schedule, uint16_t channel);

  // Posts what the first sum, of `elements`, can receive before its data is
  // there, so that the credits are with the peers in time; once, before the
  // first Begin. Later sums are prepared by the one before.
  void Prepare(int64_t elements, Host& host);
  // Sums `data` (as many elements) over all ranks into itself.
  void Begin(Part data, Host& host);

  // Messages of the coming sum may arrive before it begins here. Errors name the
  // message and the sum under way.
  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Sent& event, Host& host);

  // The sum begun last is in its vector.
  bool summed() const { return level_ == schedule_->levels(); }
  // Nothing of it is in flight.
  bool idle() const { return summed() && leaving_.empty(); }
  // What the level under way cannot end without.
  std::vector<Waiting> waiting_for() const;
  // Ranks that this one exchanges messages with, ascending.
  std::vector<Rank> Peers() const;

  static constexpr int kMaxAhead = 16;
  // Scratch that is not worth saving.
  static constexpr int64_t kEagerElements = int64_t{4} << 20;

 private:
  // What was posted for a level and is not taken in yet.
  struct Place {
    Round sum;
    int level;
    Rank from;
    int64_t slot;      // in scratch, for partial sums
    unsigned missing;  // bit i: range i has not arrived
  };

  AllreduceStep Step(int level) const { return schedule_->Step(level, elements_); }
  bool Reduces(int level) const { return level < schedule_->reduce_levels(); }
  // The tag of one of the ranges of a level.
  Tag StepTag(Round sum, int level, size_t range) const;
  Part Own(const ElementRange& range) const;

  void Advance(Host& host);
  // False when an earlier message has not left.
  bool SendLevel(const AllreduceStep& step, Host& host);
  // False when some of it is not there.
  bool TakeInLevel(const AllreduceStep& step, Host& host);
  void PostAhead(Host& host);
  // False when there is no place for the level's messages yet.
  bool PostLevel(const AllreduceStep& step, Host& host);
  // Whether what was sent in `level` of this sum has left.
  bool HasLeft(int level) const;
  absl::Status Unexpected(const char* what, Rank peer, const Tag& tag) const;

  const std::unique_ptr<const AllreduceSchedule> schedule_;
  const uint16_t channel_;

  int64_t elements_ = 0;
  Part data_;
  Vec scratch_;
  int64_t slot_size_ = 0;            // elements
  std::vector<int64_t> free_slots_;  // offsets

  Round sum_ = -1;        // begun last; counted from 0, also in tags
  int level_;             // of it, under way
  int sent_levels_ = 0;   // of it, whose messages were sent
  Round posted_sum_ = 0;  // the level to post for next
  int posted_level_ = 0;
  std::deque<Place> places_;  // in the order of sums and levels
  std::vector<Waiting> leaving_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_COLLECTIVE_H_
