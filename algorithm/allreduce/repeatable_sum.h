// A sum over all members that is done again when some of them are lost: a BucketedSum, and the last
// sum for those who have not got it (last_sum.h).
//
// Where members may be lost, an owner gives up the sum under way (GiveUp) when some are, and begins
// anew in the view that follows. If it is behind there, it first asks for the sum that the others
// have had.
//
// Thread-safety: one event at a time; one sum at a time.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_REPEATABLE_SUM_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_REPEATABLE_SUM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/collective.h"
#include "algorithm/allreduce/last_sum.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/local/local_steps.h"
#include "algorithm/state_visitor.h"

namespace grapevine {

class RepeatableSum {
 public:
  // As BucketedSum's; of `rank` among `members`. One more channel than that has.
  RepeatableSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel, Rank rank,
                Rank members, LocalSteps steps = LocalSteps());

  // Sums vectors of `elements` from `round` on; once, before all else. `latest` as Start's: where
  // it is none, no members are lost.
  void Start(int64_t elements, Round round, std::optional<Round> latest, Host& host);
  void VisitState(StateVisitor& state) { last_.VisitState(state); }
  // Whether members may be lost. What is summed is then kept for a round (End).
  bool keeps() const { return keeps_; }

  // Whether the others have had the sum of the round in which this node has begun, and it has not.
  bool behind() const { return behind_; }
  // Then it asks for that, once. The question carries the first element of `replica`, which nobody
  // looks at.
  void Ask(Vec replica, Host& host) { last_.Ask(round_, replica, host); }
  // The answer, once, with which it is not behind any more; no vector: nobody has the sum, and it
  // is to be made again.
  std::optional<KeptSum> TakeAnswer(Host& host);

  // As BucketedSum's.
  std::span<const int64_t> cuts() const { return sum_.cuts(); }
  void Begin(Vec data) { sum_.Begin(data); }
  void Begin(Vec data, Vec into) { sum_.Begin(data, into); }
  bool later_in_place() const { return sum_.later_in_place(); }
  void OnReady(int64_t from, Host& host) { sum_.OnReady(from, host); }
  bool summed() const { return sum_.summed(); }
  // The sum has been used: it is kept, or dropped.
  void End(const KeptSum& sum, Host& host);

  // Errors name the message and its sender.
  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Left& event, Host& host);
  absl::Status On(const Sent& event, Host& host);
  absl::Status On(const Lost& event, Host& host);
  absl::Status On(const Offered& event, Host& host);

  // Goes on no more, and takes back what it has posted.
  void GiveUp(Host& host);
  // After that: every post and every send has ended.
  bool ended() const { return sum_.ended() && last_.ended(); }
  // And then its memory is free, but for what it keeps.
  void Close(Host& host);

  // Whether nothing of the latest sum is in flight.
  bool idle() const { return sum_.idle() && last_.ended(); }
  // What it still needs in order to go on; of a complete sum, the messages that its peers have not
  // received.
  std::vector<Waiting> waiting_for() const;
  std::vector<Rank> Peers() const { return sum_.Peers(); }

 private:
  BucketedSum sum_;
  LastSum last_;
  int64_t elements_ = 0;
  Round round_ = 0;  // in which it began
  bool keeps_ = false;
  bool behind_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_REPEATABLE_SUM_H_
