// An asynchronous server: it applies each worker's update as it comes, and answers with its
// weights as they are then.
//
// It posts for two updates at a time, and has two answers on their way at most, each of them a
// version of the weights that is never written again. Further workers wait in a queue of their
// offers, bounded by their number, since each has one exchange under way. So memory does not depend
// on how many they are. Workers whose messages take long (SlowPeers) are served one at a time: the
// others pass them at the second place. What an update does to the weights is a rule's matter
// (ServerRule).
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_SERVER_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_SERVER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/server/push.h"
#include "algorithm/server/shard_layout.h"
#include "algorithm/server/slow_peers.h"
#include "algorithm/server/staleness_gate.h"

namespace grapevine {

// An update that has come to a server.
struct Update {
  Vec vector;           // as long as the server's range
  int64_t version;      // updates before it
  int64_t staleness;    // those of them since the weights that it was made at
  Round nominal_round;  // gradients before it, of all workers, in rounds of as many as there are
};

// What a server does with updates.
class ServerRule {
 public:
  struct Moved {
    Vec weights;
    Vec answer = {};  // none: the weights
  };

  virtual ~ServerRule() = default;

  // Before the first update.
  virtual void Start(ReplicaRange range, Host& host) {}
  // Moves the weights by an update, and takes both vectors: the weights move to another one.
  virtual Moved Apply(const Update& update, Vec weights, Host& host) = 0;
};

class AsyncServer final : public Algorithm {
 public:
  // Vectors as long as its range, beside those that the rule keeps: the weights, two updates, and
  // an answer that has other weights.
  static constexpr int64_t kVectors = 4;

  // `rank` is a server's; an update has at most `window` gradients.
  AsyncServer(ShardLayout shards, Rank rank, int64_t window, StalenessGate gate,
              std::unique_ptr<ServerRule> rule);

  absl::Status On(const Event& event, Host& host) override;
  // Updates so far.
  Round round() const override { return version_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round, Round) const override { return shards_.WorkerRanks(); }

 private:
  // A worker's, from its offer until its answer is sent.
  struct Exchange {
    int64_t index;
    Ask ask;
    int64_t gradients;
    int64_t made_at;  // a version
    Vec vector = {};  // the update, or the answer where that is not the weights
  };

  absl::Status OnOffered(const Offered& event, const Host& host);
  absl::Status OnReceived(const Received& event);
  absl::Status OnLeft(const Left& event);
  absl::Status OnSent(const Sent& event);
  absl::Status CheckAsk(const Offered& event, Ask ask, const Host& host) const;

  // Does all that can be done now.
  void Advance(Host& host);
  // Whether there was one to be sent, or to be applied.
  bool AnswerNext(Host& host);
  bool ApplyNext(Host& host);
  void Apply(Exchange* exchange, Host& host);
  // Whether there was an offer that may be posted for.
  bool PostNext(Host& host);
  bool IsSlow(Rank worker) const {
    return slow_senders_.contains(worker) || slow_receivers_.contains(worker);
  }
  // Whether one of these has an update or an answer on its way, or about to be.
  bool ServesASlowOne() const;

  ReplicaRange Range(const Host& host) const {
    return shards_.Shard(shards_.IndexOf(rank_), host.replica_size());
  }

  const ShardLayout shards_;
  const Rank rank_;
  const int64_t window_;
  StalenessGate gate_;
  const std::unique_ptr<ServerRule> rule_;

  Vec weights_;
  int64_t version_ = 0;
  int64_t gradients_ = 0;  // in the weights
  std::map<Rank, Exchange> open_;
  std::map<Rank, int64_t> last_;  // exchange of each worker
  // Of the workers in it: each is in one of these, in the order in which they came there.
  std::deque<Rank> offered_;
  std::set<Rank> posted_;
  std::deque<Rank> received_;
  std::deque<Rank> applied_;
  std::map<SendId, Waiting> leaving_;  // answers
  std::map<SendId, Waiting> unsent_;
  SlowPeers slow_senders_;
  SlowPeers slow_receivers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_SERVER_H_
