// How a newcomer gets the replica that it begins with: the mean of the other members' replicas, so
// that the mean of all replicas does not move.
//
// The veterans of a view (view.h) have replicas when it begins. A replica is divided into as many
// pieces as the view has veterans, and each veteran makes the mean of one piece: it receives that
// piece from every other veteran, and sends the mean to each newcomer. So a newcomer receives the
// bytes of one replica, from all veterans at once. A veteran receives the bytes of one replica,
// sends as many, and sends one piece to each newcomer. Veterans do not wait for any of this; the
// newcomer's neighbours do, in the view's first round.
//
// A veteran that is lost meanwhile is not part of the means that the others still make. Its own
// piece does not come, so that the newcomer cannot begin, and leaves; the newcomer may come again.
//
// Thread-compatible: the classes are parts of an algorithm.
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

// The channel of all messages of admissions; the index of their tags is the view's epoch.
// Algorithms have the channels below, the driver those above.
inline constexpr uint16_t kAdmissionChannel = 0x7fff;
inline bool IsOfAdmission(const Tag& tag) { return tag.channel == kAdmissionChannel; }

// Determines which veteran makes the mean of which elements of the replica.
class AdmissionPieces {
 public:
  explicit AdmissionPieces(const View& view) : veterans_(view.Veterans()) {}

  const std::vector<Member>& veterans() const { return veterans_; }
  // Returns the piece of veteran number `veteran` in a replica of `replica_size` elements; may be
  // empty.
  ReplicaRange Of(size_t veteran, int64_t replica_size) const;

 private:
  const std::vector<Member> veterans_;
};

// A veteran's part in an admission. Its requests name members, not ranks of a view.
class Donation {
 public:
  // `self` must be a veteran of the view.
  Donation(View view, Member self);

  // Begins at `replica`, which must not be written again.
  void Begin(Vec replica, Host& host);
  // Takes note of a later view that was agreed upon: newcomers that are not in it have been lost
  // and get nothing more. A process that comes in again under the same name must not get what was
  // meant for the lost one.
  void OnView(const View& later);
  // Handles an event of the admission's channel with this view's epoch, or the Sent of a send of
  // this donation (Sends).
  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Lost& event, Host& host);
  bool Sends(SendId id) const { return sends_.contains(id); }
  void On(const Sent& event) { sends_.erase(event.id); }

  uint32_t epoch() const { return view_.epoch; }
  // Returns whether nothing of the donation is under way.
  bool over() const { return !piece_ && sends_.empty(); }
  std::vector<Waiting> waiting_for() const;

 private:
  // Another veteran's share of this veteran's piece, received or awaited.
  struct Share {
    Member from;
    Vec vector;
    bool posted = true;  // the post has not ended
  };
  Tag ShareTag() const;
  Part Whole(Vec piece) const { return {piece, 0, piece_size_}; }
  // Marks the share posted for `from` as ended, and returns it; an error if no such share is
  // posted.
  absl::StatusOr<Share*> End(Member from, Tag tag);
  void SendMeanIfComplete(Host& host);

  const View view_;
  const Member self_;
  const AdmissionPieces pieces_;
  std::vector<Member> newcomers_;  // those that are not lost
  Vec piece_;  // the piece of its own replica, then of the mean; none once that is sent
  int64_t piece_size_ = 0;
  std::vector<Share> shares_;
  std::set<SendId> sends_;
};

// A newcomer's part in an admission: it receives the replica that it begins with, piece by piece.
class Reception {
 public:
  explicit Reception(const View& view) : epoch_(view.epoch), from_(view.from), pieces_(view) {}

  void Begin(Host& host);
  absl::Status On(const Received& event);
  // Returns the error that ends this node's run; it names the veteran and the remedy.
  absl::Status On(const Lost& event) const;

  bool complete() const { return awaited_.empty(); }
  // Returns the replica. Must be called only once complete.
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
