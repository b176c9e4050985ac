// The sum of the last round, for members that have not got it.
//
// When a member is lost in the middle of a sum, some of the others have it whole all the same, and
// some have not. Those who have it are a round ahead of the rest, and no further, for the next sum
// takes everybody. So each keeps its sum until it has the next one. In the view that follows, those
// who are behind ask the others for it, one after the other, and end the round with the same bits
// as if nobody had been lost. Where nobody has it, as it died with those who had, they hear so
// from all, and the sum is made again.
//
// A question is a message that is offered, and never taken: who has the sum offers that in return,
// and declines the question when the sum has arrived; who has not declines at once. Nobody can be
// wrong for long about who has it: a sum is only made again with all members.
//
// Thread-safety: as its owner's.
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
  // Of `members`, on a channel of its own.
  LastSum(uint16_t channel, Rank rank, Rank members)
      : channel_(channel), rank_(rank), members_(members) {}

  // Its owner has the next one: drops the last.
  void Keep(const KeptSum& sum, Host& host);
  void VisitState(StateVisitor& state) { state.Kept(&kept_); }

  // Asks the others for the sum of `round`; once. A question carries the first element of
  // `replica`, which nobody looks at.
  void Ask(Round round, Vec replica, Host& host);
  enum class Answer { kNone, kSum, kNobodyHasIt };
  Answer answer() const { return answer_; }
  // What came with kSum; from then on the caller's.
  KeptSum Take();

  bool Owns(const Tag& tag) const { return tag.channel == channel_; }
  // Of its channel. Errors name the message and its sender.
  void On(const Offered& event, Host& host);
  absl::Status On(const Received& event);
  absl::Status On(const Lost& event, Host& host);
  // False where the send is not one of its own.
  bool On(const Left& event) const;
  bool On(const Sent& event, Host& host);

  // Asks and answers no more, and takes back what it has posted.
  void GiveUp(Host& host);
  // Whether nothing is in flight.
  bool ended() const { return !posted_ && sends_.empty(); }
  // After that: its memory is free, but for what it keeps.
  void Close(Host& host);
  std::vector<Waiting> waiting_for() const;

 private:
  // Steps of tags; the index is the round.
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
  // An error if the message is not the sum that was posted for.
  absl::Status CheckPosted(Rank from, const Tag& tag) const;

  const uint16_t channel_;
  const Rank rank_;
  const Rank members_;

  KeptSum kept_;
  Round round_ = 0;  // of the questions
  Vec replica_;
  Rank nth_ = 0;  // of the others is asked; 0: nobody
  Vec posted_;    // for the sum
  KeptSum given_;
  Answer answer_ = Answer::kNone;
  bool given_up_ = false;
  std::vector<OnItsWay> sends_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_LAST_SUM_H_
