// The sum of the last round, for members that do not have it.
//
// When a member is lost in the middle of a sum, some of the other members may have the whole sum
// while the rest do not. Members that have it are one round ahead of the rest, and no further,
// because the next sum takes every member. Each member therefore keeps its sum until it has the
// next one. In the view that follows, the members that are behind ask the others for it, one after
// the other, and end the round with the same bits as if no member had been lost. If no member has
// the sum, because it died with those that had it, every answer says so, and the sum is made again.
//
// A question is a message that is offered and never taken. A node that has the sum offers the sum
// in return, and declines the question when the sum has arrived; a node without it declines at
// once. A node cannot be wrong for long about which nodes have the sum, since a sum is only made
// again with all members.
//
// Thread-safety: that of its owner.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_LAST_SUM_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_LAST_SUM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/state_visitor.h"

namespace grapevine {

class LastSum {
 public:
  // For the node with this rank among `members`. `channel` must carry no other messages.
  LastSum(uint16_t channel, Rank rank, Rank members)
      : channel_(channel), rank_(rank), members_(members) {}

  // Keeps `sum`, which the owner has just obtained, and drops the sum before it.
  void Keep(const KeptSum& sum, Host& host);
  void VisitState(StateVisitor& state) { state.Kept(&kept_); }

  // Asks the other members for the sum of `round`; once. A question carries the first element of
  // `replica`, which no node reads.
  void Ask(Round round, Vec replica, Host& host);
  enum class Answer { kNone, kSum, kNobodyHasIt };
  Answer answer() const { return answer_; }
  // Returns the sum that came with kSum, which the caller then owns; no vector if none came.
  KeptSum Take();

  bool Owns(const Tag& tag) const { return tag.channel == channel_; }
  // The events must be those of its channel. Errors name the message and its sender.
  void On(const Offered& event, Host& host);
  absl::Status On(const Received& event);
  absl::Status On(const Lost& event, Host& host);
  // Returns false if the send is not one of its own.
  bool On(const Left& event) const;
  bool On(const Sent& event, Host& host);

  // Stops asking and answering, and withdraws what has been posted.
  void GiveUp(Host& host);
  // Whether nothing is in flight.
  bool ended() const { return !posted_ && sends_.empty(); }
  // Releases its memory, except the sum that it keeps. Must be called after GiveUp, once ended() is
  // true.
  void Close(Host& host);
  std::vector<Waiting> waiting_for() const;

 private:
  // Steps of the tags; a tag's index is the round.
  static constexpr uint32_t kQuestion = 0, kSum = 1;
  struct OnItsWay {
    SendId id;
    Waiting message;
  };

  Rank asked() const { return (rank_ + nth_) % members_; }
  bool asks() const { return nth_ > 0 && nth_ < members_ && answer_ == Answer::kNone; }
  Tag TagOf(uint32_t step, Round round) const { return {channel_, round, step}; }
  void AskNext(Host& host);
  void AnswerQuestion(const Offered& event, Host& host);
  void Offer(Rank to, Tag tag, const Part& part, const Note& note, Host& host);
  // Returns an error if the message is not the sum that was posted for.
  absl::Status CheckPosted(Rank from, const Tag& tag) const;

  const uint16_t channel_;
  const Rank rank_;
  const Rank members_;

  KeptSum kept_;
  Round round_ = 0;  // the round that is asked for
  Vec replica_;
  Rank nth_ = 0;  // the asked node's distance from rank_; 0: none is asked
  Vec posted_;    // the buffer for the sum, while it is posted
  KeptSum given_;
  Answer answer_ = Answer::kNone;
  bool given_up_ = false;
  std::vector<OnItsWay> sends_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_LAST_SUM_H_
