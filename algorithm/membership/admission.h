// How a newcomer gets the replica that it begins with: the mean of the others', so that the mean of
// all does not move.
//
// The veterans of a view (view.h) have replicas when it begins. Each of them makes the mean of one
// piece of these, of as many pieces as there are veterans: it receives that piece from every other
// one, and sends the mean to each newcomer. So a newcomer receives the bytes of one replica, from
// all veterans at once, and a veteran receives those of one replica and sends as many, and a piece
// for each newcomer. Veterans do not wait for any of this: the newcomer's neighbours do, in the
// view's first round.
//
// A veteran that is lost meanwhile is not part of the means that the others still make. Its own
// piece does not come, so that the newcomer cannot begin, and leaves; it may come again.
//
// Thread-compatible: they are parts of an algorithm.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_ADMISSION_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_ADMISSION_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/view.h"

namespace grapevine {

// Of the messages of admissions; their index is the view's epoch. Algorithms have those below, the
// driver those above.
inline constexpr uint16_t kAdmissionChannel = 0x7fff;
inline bool IsOfAdmission(const Tag& tag) { return tag.channel == kAdmissionChannel; }

// Who makes the mean of which elements of the replica.
class AdmissionPieces {
 public:
  explicit AdmissionPieces(const View& view) : veterans_(view.Veterans()) {}

  const std::vector<Member>& veterans() const { return veterans_; }
  // Of so many elements, the piece of the i-th veteran; may be empty.
  ReplicaRange Of(size_t veteran, int64_t replica_size) const;

 private:
  const std::vector<Member> veterans_;
};

// A veteran's part in an admission. Its requests are of members, not of ranks of a view.
class Donation {
 public:
  // `self` is a veteran of the view.
  Donation(View view, Member self);

  // At `replica`, which is not written again.
  void Begin(Vec replica, Host& host);
  // A later view was agreed upon: newcomers that are not in it have been lost, and another life of
  // theirs is not to get what these do not.
  void OnView(const View& later);
  // Events of the admission's channel, with this view's epoch; and of a send that IsOf this.
  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Lost& event, Host& host);
  bool Sends(SendId id) const { return sends_.contains(id); }
  void On(const Sent& event) { sends_.erase(event.id); }

  uint32_t epoch() const { return view_.epoch; }
  // Nothing of it is under way.
  bool over() const { return !piece_ && sends_.empty(); }
  std::vector<Waiting> waiting_for() const;

 private:
  // What another veteran has sent of this one's piece, or is to send.
  struct Share {
    Member from;
    Vec vector;
    bool posted = true;  // and not ended
  };
  Tag ShareTag() const;
  Part Whole(Vec piece) const { return {piece, 0, piece_size_}; }
  // Its posted share, no longer so; an error if there is none.
  absl::StatusOr<Share*> End(Member from, Tag tag);
  void SendMeanIfComplete(Host& host);

  const View view_;
  const Member self_;
  const AdmissionPieces pieces_;
  std::vector<Member> newcomers_;  // that are not lost
  Vec piece_;                      // of its own replica, then of the mean; none once that is sent
  int64_t piece_size_ = 0;
  std::vector<Share> shares_;
  std::set<SendId> sends_;
};

// A newcomer's part: what it begins with, piece by piece.
class Reception {
 public:
  explicit Reception(const View& view) : epoch_(view.epoch), from_(view.from), pieces_(view) {}

  void Begin(Host& host);
  absl::Status On(const Received& event);
  // The error, which ends this node's run, names the veteran and the remedy.
  absl::Status On(const Lost& event) const;

  bool complete() const { return awaited_.empty(); }
  // Once complete.
  Vec Take() { return replica_; }
  std::vector<Waiting> waiting_for() const;

 private:
  const uint32_t epoch_;
  const Round from_;
  const AdmissionPieces pieces_;
  Vec replica_;
  std::set<Member> awaited_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_ADMISSION_H_
