// Sums over all ranks, in place, in messages of pieces: the part that allreduce SGD, model
// averaging and outer optimizers share. A Collective sums a whole vector; a BucketedSum sums it in
// buckets.
//
// Thread-safety: one event at a time; one sum at a time.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_COLLECTIVE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_COLLECTIVE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/local/local_steps.h"
#include "base/spec.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Returns the most memory, in elements, that a sum over `size` ranks takes in addition to its data,
// by the allreduce that `spec` names ("allreduce:KIND"). Small vectors have a buffer for every
// level of a tree, or two where whole sums are exchanged. Large vectors have two buffers in all,
// and one more where the sum is not made in place.
int64_t LargestScratch(const Spec& spec, Rank size, int64_t elements);

// A sum over all ranks of a vector that is complete.
//
// A collective is a nested state machine: its owner forwards the events of its channel. It follows
// a schedule. It sends the elements of a level as soon as they are complete and the previous
// message has left. It adds what it receives in the order of the levels, in whatever order messages
// arrive. Then it retraces the schedule. Every rank ends with the same bits, since each element is
// summed once in one order.
//
// In an exchange, the vector is still being sent while the sum is made. The sum is therefore made
// in the memory of what was received, and sent on from there; the last exchange puts it in place.
//
// Receive buffers are posted ahead, also for the next sum, so that the sender has the credit before
// the data. Partial sums arrive in scratch memory, which takes as much as one vector, or two where
// whole vectors travel (trees), or up to 16 MiB. A final sum arrives in place, once the partial sum
// there has left; no rank has the final sum before others have received that partial sum. Large
// pieces, small pieces and final sums are posted on separate lanes: the credit of a piece that
// crosses an ocean does not wait for the buffer of a whole vector from a near neighbour.
class Collective {
 public:
  // `channel` keeps the collective's messages apart from those of its owner; `steps` says in which
  // rounds sums are made.
  Collective(std::unique_ptr<const AllreduceSchedule> schedule, uint16_t channel,
             LocalSteps steps = LocalSteps());

  // Posts what the first sum from `round` on, of vectors of `elements`, can receive before its own
  // data is ready, so that the peers have the credits in time. Must be called once, before the
  // first Begin. Each sum prepares the next one.
  void Prepare(int64_t elements, Host& host, Round round = 0);
  // Sums `data`, which must have as many elements as were prepared, over all ranks in place.
  void Begin(Part data, Host& host) { Begin(data, data, true, host); }
  // Sums `data` over all ranks into `into`, which is another vector. `data` is read until the sum
  // is complete, and is not written. If there is only one rank, nothing is summed and `into` is not
  // written.
  void Begin(Part data, Part into, Host& host) { Begin(data, into, false, host); }

  // Messages of the next sum may arrive before it begins here. Errors name the message and the
  // current sum.
  absl::Status On(const Received& event, Host& host);
  // Returns false if the send is not one of this collective's.
  bool On(const Left& event, Host& host);
  bool On(const Sent& event, Host& host);

  // Stops the sum, and withdraws what has been posted.
  void GiveUp(Host& host);
  bool given_up() const { return given_up_; }
  // Ends a post that will not be filled. Returns an error before GiveUp.
  absl::Status On(const Lost& event);
  // Whether every post and every send has ended, after GiveUp.
  bool ended() const { return posted_.empty() && unsent_.empty(); }
  // Releases the scratch memory. Must be called after GiveUp, once ended() is true.
  void End(Host& host);

  // Whether a sum in place of its data ends later than one into another vector. This is so for two
  // ranks that exchange whole vectors: each may overwrite its vector only when it knows that the
  // vector has arrived.
  bool later_in_place() const {
    return schedule_->levels() == 1 && schedule_->exchange_levels() == 1;
  }

  // Whether the latest sum is complete in its vector.
  bool summed() const {
    return sent_levels_ == schedule_->levels() && taken_levels_ == schedule_->levels();
  }
  // Whether the latest sum is complete and nothing of it is in flight.
  bool idle() const { return summed() && unsent_.empty(); }
  // Returns the messages that the sum still needs in order to go on; of a complete sum, the
  // messages that its peers have not received.
  std::vector<Waiting> waiting_for() const;
  // Returns the ranks that this rank exchanges messages with, ascending.
  std::vector<Rank> Peers() const;

  // The most messages of a lane (below) that are posted at once.
  static constexpr int kMaxAhead = 16;
  // Scratch memory, in elements, that is too small to be worth saving.
  static constexpr int64_t kEagerElements = int64_t{4} << 20;

 private:
  // Memory for what is received in a level, reused in later levels.
  struct Slot {
    int64_t begin = 0;  // offset in scratch_; unused for final sums, which arrive in place
    int64_t size = 0;   // elements
    bool taken = false;
  };
  // Levels that are posted one after the other, with slots that are used in turn.
  struct Lane {
    std::vector<int> levels;
    std::vector<Slot> slots;
    size_t sums = 1;  // consecutive sums that have slots of their own
    int64_t sum = 0;  // the sum to post for next, in levels[next]
    size_t next = 0;

    size_t NextSlot() const;
  };
  // A message that was sent and whose Sent has not come yet.
  struct Unsent {
    SendId id;
    Waiting message;
    Slot* source = nullptr;  // where the message lies; null: in the vector that is summed
    bool left = false;
  };
  // The posts for a level whose messages have not been consumed yet.
  struct Posted {
    int64_t sum;
    int level;
    Rank from;
    Slot* slot;
    unsigned missing;  // bit i: range i has not arrived
  };

  // `in_place` says whether `data` and `into` are one vector: the handles of phantoms cannot tell.
  void Begin(Part data, Part into, bool in_place, Host& host);

  AllreduceStep Step(int level) const { return schedule_->Step(level, elements_); }
  // Returns the number of elements that are received in a level.
  int64_t Elements(int level) const;
  // Whether what is received in a level is added to this rank's own sum; otherwise it is a final
  // sum.
  bool Adds(int level) const { return schedule_->Reduces(level) || schedule_->Exchanges(level); }
  bool LastExchange(int level) const {
    return schedule_->Exchanges(level) && !schedule_->Exchanges(level + 1);
  }
  // Whether the sum of a level is written over a vector from which this rank has sent: its own
  // vector, or its sum with what others have given to it before the exchanges.
  bool OverwritesData(int level) const {
    return LastExchange(level) && (in_place_ || schedule_->reduce_levels() > 0);
  }
  // Returns the tag of one of the ranges of a level. The index of the tag is the round of the sum.
  Tag StepTag(int64_t sum, int level, size_t range) const;

  // Gives a lane's levels at most `most` slots, each as large as the largest level that uses it.
  // Returns the total size of the slots.
  int64_t MakeSlots(Lane& lane, int64_t most);
  void Advance(Host& host);
  // Whether some message that was sent has not left.
  bool leaving() const;
  // Sends the messages of the next level. Returns false while an earlier message has not left or
  // some of the elements are not complete, and after the last level.
  bool SendLevel(Host& host);
  // Whether everything that earlier levels add to these elements has been added.
  bool Complete(const AllreduceStep::Ranges& sent) const;
  // Takes in the messages of the next level. Returns false while some have not arrived or may not
  // be added, and after the last level.
  bool TakeInLevel(Host& host);
  // Returns where this rank's own sum of these elements lies, in one place.
  Part Own(const ElementRange& range, Host& host);
  // Copies to into_ those elements of a partly made range that are not there yet, since the range
  // goes in one message. Happens in halving-doubling on seven ranks.
  void MakeRest(const ElementRange& range, Host& host);
  // Records that the elements of `range` are in into_.
  void MarkMade(const ElementRange& range);
  // Whether the sum of a level may be written where it goes. The sum of the last exchange may go
  // where this rank's own vector lies, which is still being sent if there is no other exchange.
  bool MayAdd(int level) const;
  // Adds what has arrived in `slot` to this rank's own sum.
  void Add(const AllreduceStep::Ranges& received, const Slot& slot, Host& host);
  // Adds this rank's own sum to what has arrived in `slot`. The result, in the slot or, with
  // `last`, in into_, becomes this rank's own sum.
  void AddBeside(Slot& slot, bool last, Host& host);
  // Frees a slot from which something was sent, if that has been received and this rank's own sum
  // is no longer there.
  void FreeIfUnused(Slot* slot);
  void PostAhead(Host& host);
  // Posts for a lane's next level. Returns false if it may not be posted yet, or its slot is taken.
  bool PostNext(Lane& lane, Host& host);
  // Finds the posts for a level of a sum that have not been consumed; end() if there are none.
  std::vector<Posted>::const_iterator FindPosted(int64_t sum, int level) const;
  // Whether a final sum may arrive in its place: everything that was sent from there has left.
  bool MayArriveInPlace(int level) const;
  // Whether everything that was sent in `level` of the current sum has left.
  bool HasLeft(int level) const;
  // Whether an unfinished send reads the vector that is being summed.
  bool FromData(const Unsent& sent) const;
  absl::Status Unposted(Rank from, const Tag& tag) const;
  // Returns the posts that have not ended.
  std::vector<Waiting> OpenPosts() const;
  // Ends a post whose message has arrived, or never will.
  absl::Status EndPost(Rank from, const Tag& tag);

  const std::unique_ptr<const AllreduceSchedule> schedule_;
  const uint16_t channel_;
  const LocalSteps steps_;

  int64_t elements_ = 0;
  Part data_;
  Part into_;               // where the sum is made
  bool in_place_ = true;    // whether into_ is data_
  Part slot_sum_;           // during exchanges, where this rank's own sum lies
  Slot* source_ = nullptr;  // the slot of slot_sum_; null: not in a slot
  // The elements that are in into_ already, if it is another vector than data_: begins and ends of
  // ranges that do not touch.
  std::map<int64_t, int64_t> made_;
  Vec scratch_;
  Lane large_;  // partial sums of more than half the largest
  Lane small_;  // the others
  Lane final_;  // sums on their way back

  int64_t sum_ = -1;  // the sum begun last; sums are counted from 0
  int sent_levels_;   // levels of sum_ whose messages were sent
  int taken_levels_;  // levels of sum_ whose messages were taken in
  std::vector<Posted> posted_;
  std::vector<Unsent> unsent_;
  bool given_up_ = false;
};

// A sum over all ranks in buckets. Each bucket is summed as soon as its elements are final, so that
// a gradient travels while the rest of it is still being computed.
//
// Bucket 0 is the end of the vector, where a backward pass begins; all buckets have the same size.
// Buckets begin in order, and several may be in progress. A bucket is summed in as many equal parts
// as its allreduce has schedules, all at the same time. Each part is a Collective with a channel
// and scratch memory of its own.
//
// Every rank ends with the same bits. They are those of a single bucket where a schedule adds the
// ranks in the same order for all elements (tree, and halving-doubling for n = 2^k). In a ring, the
// order depends on an element's piece, and so on the buckets.
class BucketedSum {
 public:
  // `buckets` holds the schedules of each bucket's parts; all buckets have equally many. Each part
  // has a channel, from `first_channel` on. `steps` says in which rounds sums are made.
  BucketedSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
              LocalSteps steps = LocalSteps());

  // Prepares sums of vectors of `elements`; see Collective::Prepare.
  void Prepare(int64_t elements, Host& host, Round round = 0);
  // Returns where all buckets but the last begin, in descending order: the cuts for Host::Gradient.
  // Valid after Prepare, for the lifetime of this object.
  std::span<const int64_t> cuts() const { return cuts_; }

  // Whether a sum is made in rounds [round, latest), which a node that begins in `round` lacks when
  // others begin in `latest`.
  bool IsBehind(Round round, Round latest) const {
    return steps_.Before(round) < steps_.Before(latest);
  }

  // Begins a sum of `data`, none of whose elements is final yet, in place or into another vector;
  // see Collective::Begin.
  void Begin(Vec data) { Begin(data, data, true); }
  void Begin(Vec data, Vec into) { Begin(data, into, false); }
  // Says that the elements from `from` on are final.
  void OnReady(int64_t from, Host& host);

  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Left& event, Host& host);
  absl::Status On(const Sent& event, Host& host);

  // These forward to the functions of Collective; see there.
  void GiveUp(Host& host);
  absl::Status On(const Lost& event);
  bool ended() const;
  void End(Host& host);

  // Forwards to Collective::later_in_place.
  bool later_in_place() const { return parts_.front().sum->later_in_place(); }

  // Number of channels in use, from `first_channel` on.
  uint16_t channels() const { return static_cast<uint16_t>(parts_.size()); }

  bool summed() const;
  bool idle() const;
  std::vector<Waiting> waiting_for() const;
  std::vector<Rank> Peers() const;

 private:
  struct Part {
    std::unique_ptr<Collective> sum;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t bucket = 0;  // where the bucket of this part begins
  };

  void Begin(Vec data, Vec into, bool in_place);
  // Returns the collective of a message's channel; an error if no part has that channel.
  absl::StatusOr<Collective*> Find(Rank from, const Tag& tag) const;

  const uint16_t first_channel_;
  const LocalSteps steps_;
  size_t parts_of_bucket_;
  std::vector<Part> parts_;  // the parts of all buckets, from the vector's end on
  std::vector<int64_t> cuts_;
  Vec data_;
  Vec into_;
  bool in_place_ = true;
  size_t begun_;  // number of parts whose latest sum has begun
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_COLLECTIVE_H_
