// Sums over all ranks, in place, in messages of pieces: the part that allreduce SGD, model
// averaging and outer optimizers share. Of a whole vector (Collective), or in buckets
// (BucketedSum).
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

// The most memory beside the data of a sum over `size` ranks by the allreduce that `spec` names
// ("allreduce:KIND"), in elements: small vectors have a buffer for every level of a tree, two where
// whole sums are exchanged; large ones two in all, and one where the sum is not made in place.
int64_t LargestScratch(const Spec& spec, Rank size, int64_t elements);

// A sum of a vector that is complete.
//
// A collective is a nested state machine: its owner forwards the events of its channel. It
// follows a schedule: it sends what each level sends as soon as that is complete and its previous
// message has left, adds what it receives in the order of the levels, whatever order messages come
// in, and then retraces the schedule. Every rank ends with the same bits, since each element is
// summed once in one order.
//
// In an exchange the sum is made beside the vector that is still being sent, in the memory of what
// was received, and sent on from there; the last exchange puts it in place.
//
// Receive buffers are posted ahead, also for the next sum, so that the sender has the credit
// before the data. Partial sums arrive in scratch memory, as much as one vector takes, or two
// where whole vectors travel (trees), or up to 16 MiB; final sums arrive in place, once the
// partial sums there have left: no rank has such a sum before others have received those. Large
// pieces, small ones and final sums are posted on separate lanes: the credit of a piece that
// crosses an ocean does not wait for the buffer of a whole vector from a near neighbour.
class Collective {
 public:
  // `channel` keeps its messages apart from those of its owner; `steps` says in which rounds sums
  // are made.
  Collective(std::unique_ptr<const AllreduceSchedule> schedule, uint16_t channel,
             LocalSteps steps = LocalSteps());

  // Posts what the first sum from `round` on, of `elements`, can receive before its own data is
  // ready, so that the peers have the credits in time; once, before the first Begin. Each sum
  // prepares the next one.
  void Prepare(int64_t elements, Host& host, Round round = 0);
  // Sums `data` (as many elements) over all ranks into itself.
  void Begin(Part data, Host& host) { Begin(data, data, true, host); }
  // Or into another vector: the data are read until it is complete, and stay. Nothing is summed of
  // one rank alone, nor written.
  void Begin(Part data, Part into, Host& host) { Begin(data, into, false, host); }

  // Messages of the next sum may arrive before it begins here. Errors name the message and the
  // current sum.
  absl::Status On(const Received& event, Host& host);
  // False where the send is not one of this collective's.
  bool On(const Left& event, Host& host);
  bool On(const Sent& event, Host& host);

  // Goes on no more, and takes back what it has posted.
  void GiveUp(Host& host);
  bool given_up() const { return given_up_; }
  // Of a post, after that.
  absl::Status On(const Lost& event);
  // After that: every post and every send has ended.
  bool ended() const { return posted_.empty() && unsent_.empty(); }
  // And then the memory is free.
  void End(Host& host);

  // Whether a sum in place of its data ends later than one into another vector: that of two ranks
  // whose vectors are on their way to each other until it is known that they have arrived.
  bool later_in_place() const {
    return schedule_->levels() == 1 && schedule_->exchange_levels() == 1;
  }

  // The latest sum is complete in its vector.
  bool summed() const {
    return sent_levels_ == schedule_->levels() && taken_levels_ == schedule_->levels();
  }
  // Nothing of it is in flight.
  bool idle() const { return summed() && unsent_.empty(); }
  // What it still needs in order to go on; of a complete sum, the messages that
  // its peers have not received.
  std::vector<Waiting> waiting_for() const;
  // Ranks that this one exchanges messages with, ascending.
  std::vector<Rank> Peers() const;

  // The most messages of a lane (below) that are posted at once.
  static constexpr int kMaxAhead = 16;
  // Scratch too small to be worth saving.
  static constexpr int64_t kEagerElements = int64_t{4} << 20;

 private:
  // Memory for what is received in a level, reused in later ones.
  struct Slot {
    int64_t begin = 0;  // in scratch; of final sums, which arrive in place, nothing
    int64_t size = 0;   // elements
    bool taken = false;
  };
  // Levels that are posted one after the other; their slots are used in turn.
  struct Lane {
    std::vector<int> levels;
    std::vector<Slot> slots;
    size_t sums = 1;  // that have slots of their own, in turn
    int64_t sum = 0;  // to post for next, in levels[next]
    size_t next = 0;

    size_t NextSlot() const;
  };
  // What was sent and has not been received yet.
  struct Unsent {
    SendId id;
    Waiting message;
    Slot* source = nullptr;  // where it lies; null: in the vector that is summed
    bool left = false;
  };
  // What was posted for a level and has not been consumed yet.
  struct Posted {
    int64_t sum;
    int level;
    Rank from;
    Slot* slot;
    unsigned missing;  // bit i: range i has not arrived
  };

  // Handles do not tell two vectors apart where they are phantoms.
  void Begin(Part data, Part into, bool in_place, Host& host);

  AllreduceStep Step(int level) const { return schedule_->Step(level, elements_); }
  // That are received in a level.
  int64_t Elements(int level) const;
  // Whether what is received in a level is added to this rank's own, or is a final sum.
  bool Adds(int level) const { return schedule_->Reduces(level) || schedule_->Exchanges(level); }
  bool LastExchange(int level) const {
    return schedule_->Exchanges(level) && !schedule_->Exchanges(level + 1);
  }
  // Whether what is received in a level is summed where this rank's own vector, or what others have
  // given to it before the exchanges, has been sent from.
  bool OverwritesData(int level) const {
    return LastExchange(level) && (in_place_ || schedule_->reduce_levels() > 0);
  }
  // The tag of one of the ranges of a level; its index is the round of the sum.
  Tag StepTag(int64_t sum, int level, size_t range) const;

  // Gives a lane's levels at most this many slots, each as large as the largest level that uses
  // it. Returns their total size.
  int64_t MakeSlots(Lane& lane, int64_t most);
  void Advance(Host& host);
  // Whether some message has not left.
  bool leaving() const;
  // Sends what the next level sends; false while an earlier message has not left, or some of it is
  // not complete.
  bool SendLevel(Host& host);
  // Whether all that is added to these elements in earlier levels has been.
  bool Complete(const AllreduceStep::Ranges& sent) const;
  // Takes in what the next level receives; false while some of it has not arrived.
  bool TakeInLevel(Host& host);
  // Where this rank's own sum of these elements is: all in one place.
  Part Own(const ElementRange& range, Host& host);
  // Copies what is not made yet of a range of which some is: it goes in one message, in
  // halving-doubling on seven ranks.
  void MakeRest(const ElementRange& range, Host& host);
  // It is in into_.
  void MarkMade(const ElementRange& range);
  // Whether the sum may be written where it goes. The last exchange's goes where this rank's own
  // vector is, which is still being sent if there is no other exchange.
  bool MayAdd(int level) const;
  // Adds what has arrived in the slot.
  void Add(const AllreduceStep::Ranges& received, const Slot& slot, Host& host);
  // The sum of what has arrived in the slot and this rank's becomes this rank's.
  void AddBeside(Slot& slot, bool last, Host& host);
  // Frees a slot from which something was sent, once that is received and the sum has moved on.
  void FreeIfUnused(Slot* slot);
  void PostAhead(Host& host);
  // Posts for a lane's next level; false when it may not yet, or has no slot.
  bool PostNext(Lane& lane, Host& host);
  // What was posted for a level of this sum and has not been consumed; end() if nothing.
  std::vector<Posted>::const_iterator FindPosted(int64_t sum, int level) const;
  // Whether nothing of a final sum's place is still on its way out.
  bool MayArriveInPlace(int level) const;
  // Whether what was sent in `level` of this sum has left.
  bool HasLeft(int level) const;
  // Whether something was sent from the vector that is being summed and may not be received yet.
  bool FromData(const Unsent& sent) const;
  absl::Status Unposted(Rank from, const Tag& tag) const;
  // Those that have not ended.
  std::vector<Waiting> OpenPosts() const;
  // A message that was posted for has come, or never will.
  absl::Status EndPost(Rank from, const Tag& tag);

  const std::unique_ptr<const AllreduceSchedule> schedule_;
  const uint16_t channel_;
  const LocalSteps steps_;

  int64_t elements_ = 0;
  Part data_;
  Part into_;               // where the sum is made
  bool in_place_ = true;    // there
  Part slot_sum_;           // during exchanges, this rank's sum in a slot
  Slot* source_ = nullptr;  // that slot
  // The elements of into_ that are there already, if it is another vector: begins and ends of
  // ranges with others between them.
  std::map<int64_t, int64_t> made_;
  Vec scratch_;
  Lane large_;  // partial sums of more than half the largest
  Lane small_;  // the others
  Lane final_;  // sums on their way back

  int64_t sum_ = -1;  // begun last; counted from 0
  int sent_levels_;   // of it, whose messages were sent
  int taken_levels_;  // of it, whose messages were taken in
  std::vector<Posted> posted_;
  std::vector<Unsent> unsent_;
  bool given_up_ = false;
};

// A sum over all ranks in buckets, each as soon as its elements are final: a gradient travels
// while the rest of it is still being computed.
//
// Bucket 0 is the end of the vector, where a backward pass begins; all buckets have the same
// size. They begin in order; more than one may be in progress. A bucket is summed in as many equal
// parts as its allreduce has schedules, at the same time: each part is a Collective with a channel
// and scratch memory of its own.
//
// Every rank ends with the same bits. They are those of a single bucket where a schedule adds
// the ranks in the same order for all elements (tree, and halving-doubling for n = 2^k); in a
// ring the order depends on an element's piece, and so on the buckets.
class BucketedSum {
 public:
  // The schedules of each bucket's parts, of which every bucket has as many. One channel for each,
  // from `first_channel` on. `steps` says in which rounds sums are made.
  BucketedSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
              LocalSteps steps = LocalSteps());

  // As Collective's, for vectors of `elements`.
  void Prepare(int64_t elements, Host& host, Round round = 0);
  // Where all buckets but the last begin, descending: the cuts for Host::Gradient. Valid after
  // Prepare, as long as this lives.
  std::span<const int64_t> cuts() const { return cuts_; }

  // Whether the sums before `latest` have one that those before `round` have not.
  bool IsBehind(Round round, Round latest) const {
    return steps_.Before(round) < steps_.Before(latest);
  }

  // Begins a sum of `data`, none of whose elements is final yet; into itself, or as Collective's.
  void Begin(Vec data) { Begin(data, data, true); }
  void Begin(Vec data, Vec into) { Begin(data, into, false); }
  // The elements from `from` on are final.
  void OnReady(int64_t from, Host& host);

  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Left& event, Host& host);
  absl::Status On(const Sent& event, Host& host);

  // As Collective's.
  void GiveUp(Host& host);
  absl::Status On(const Lost& event);
  bool ended() const;
  void End(Host& host);

  // As Collective's.
  bool later_in_place() const { return parts_.front().sum->later_in_place(); }

  // How many channels it has.
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
    int64_t bucket = 0;  // where its bucket begins
  };

  void Begin(Vec data, Vec into, bool in_place);
  // The collective of a message's channel; an error if there is none.
  absl::StatusOr<Collective*> Find(Rank from, const Tag& tag) const;

  const uint16_t first_channel_;
  const LocalSteps steps_;
  size_t parts_of_bucket_;
  std::vector<Part> parts_;  // of all buckets, from the vector's end on
  std::vector<int64_t> cuts_;
  Vec data_;
  Vec into_;
  bool in_place_ = true;
  size_t begun_;  // parts of the sum begun last
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_COLLECTIVE_H_
