// A sum over all members that is made again when some of them are lost: a BucketedSum, and the last
// sum for members that do not have it (last_sum.h).
//
// Where members may be lost, the owner gives up the sum under way (GiveUp) when some are, and
// begins anew in the view that follows. If this node is behind there, it first asks for the sum
// that the others have had.
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
  // `buckets`, `first_channel` and `steps` are those of BucketedSum. The node has `rank` among
  // `members`. Uses one channel more than the BucketedSum does.
  RepeatableSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel, Rank rank,
                Rank members, LocalSteps steps = LocalSteps());

  // Prepares sums of vectors of `elements` from `round` on. Must be called once, before everything
  // else. `latest` is that of the event Start (algorithm/event.h); if it is none, no members are
  // lost.
  void Start(int64_t elements, Round round, std::optional<Round> latest, Host& host);
  void VisitState(StateVisitor& state) { last_.VisitState(state); }
  // Whether members may be lost. If so, each sum is kept until the next one (End).
  bool keeps() const { return keeps_; }

  // Whether this node lacks the sum of the round in which it began, which others have had.
  bool behind() const { return behind_; }
  // Asks the others for the sum that this node lacks. Must be called once, if behind(). The
  // question carries the first element of `replica`, which no node reads.
  void Ask(Vec replica, Host& host) { last_.Ask(round_, replica, host); }
  // Returns the answer once, when it has come; this node is then no longer behind. An answer
  // without a vector says that no node has the sum, and that it must be made again.
  std::optional<KeptSum> TakeAnswer(Host& host);

  // These forward to the functions of BucketedSum; see there.
  std::span<const int64_t> cuts() const { return sum_.cuts(); }
  void Begin(Vec data) { sum_.Begin(data); }
  void Begin(Vec data, Vec into) { sum_.Begin(data, into); }
  bool later_in_place() const { return sum_.later_in_place(); }
  void OnReady(int64_t from, Host& host) { sum_.OnReady(from, host); }
  bool summed() const { return sum_.summed(); }
  // Keeps or drops `sum`, which has been used.
  void End(const KeptSum& sum, Host& host);

  // Errors name the message and its sender.
  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Left& event, Host& host);
  absl::Status On(const Sent& event, Host& host);
  absl::Status On(const Lost& event, Host& host);
  absl::Status On(const Offered& event, Host& host);

  // Stops the sum, and withdraws what has been posted.
  void GiveUp(Host& host);
  // Whether every post and every send has ended, after GiveUp.
  bool ended() const { return sum_.ended() && last_.ended(); }
  // Releases its memory, except the sum that it keeps. Must be called after GiveUp, once ended() is
  // true.
  void Close(Host& host);

  // Whether the latest sum is complete and nothing is in flight.
  bool idle() const { return sum_.idle() && last_.ended(); }
  // Returns the messages that the sum still needs in order to go on; of a complete sum, the
  // messages that its peers have not received.
  std::vector<Waiting> waiting_for() const;
  std::vector<Rank> Peers() const { return sum_.Peers(); }

 private:
  BucketedSum sum_;
  LastSum last_;
  int64_t elements_ = 0;
  Round round_ = 0;  // the round in which this node began
  bool keeps_ = false;
  bool behind_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_REPEATABLE_SUM_H_
