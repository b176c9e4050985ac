// Asynchronous parameter servers and their workers, which do not go through rounds together. What
// they say to each other is in async_exchange.h; what an update is and does, a rule's matter
// (WorkerRule, ServerRule).
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_PARAMETER_SERVER_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_PARAMETER_SERVER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/server/async_exchange.h"
#include "algorithm/server/shard_layout.h"
#include "base/ids.h"

namespace grapevine {

// What a worker does between two exchanges.
class WorkerRule {
 public:
  virtual ~WorkerRule() = default;

  // Takes the model to begin with, before this step.
  virtual void Start(Vec model, Round step, Host& host) = 0;
  // What it keeps right after an exchange (Algorithm::VisitState).
  virtual void VisitState(StateVisitor& state) = 0;
  // At which gradients are computed.
  virtual Vec model() const = 0;
  // Takes the gradient at the model: the worker's `step`, which counts from 0. `nominal_round` is
  // where the run is (Update).
  virtual void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) = 0;
  // What to give the servers; not written until they have answered. Called after a gradient; none
  // follows before the answer.
  virtual Vec Push(Host& host) = 0;
  // Takes the servers' answer, after a push or without one.
  virtual void OnAnswer(Vec answer, Host& host) = 0;
};

// The most gradients from one exchange to the next.
inline constexpr int64_t kMaxWindow = 1'000'000;

struct AsyncWorkerOptions {
  // Gradients from one exchange to the next.
  int64_t window = 1;
  // Whether servers must know who is at its limit (Ask::kLastPush).
  bool tells_limit = false;
  // That the run began with (AlgorithmOptions::PlannedWorkers).
  Rank workers = 1;
};

// A worker: it computes gradients, gives its servers an update after every few of
// them, and goes on with what they answer, whatever the other workers do.
//
// It has one exchange under way, and computes nothing meanwhile. At its limit (RoundLimit) it gives
// what it has, though these may be fewer gradients: nothing is lost when the run ends there. What
// an update is, and what becomes of the answer, is a rule's matter (WorkerRule).
//
// When members change, it ends the exchange under way, gives what it has, and says so to its
// servers (kFarewell); the gradient under way is computed again in the next view.
class AsyncWorker final : public Algorithm {
 public:
  AsyncWorker(ShardLayout shards, Rank rank, AsyncWorkerOptions options,
              std::unique_ptr<WorkerRule> rule);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  Round rests_in() const override { return steps_ + (exchange_ && exchange_->ends_step ? 1 : 0); }
  bool takes_leave() const override { return true; }
  Round round() const override { return steps_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round, Round) const override { return shards_.ServerRanks(); }

 private:
  struct Exchange {
    Ask ask;
    bool ends_step;
    Vec answer;              // the buffer
    std::set<Rank> missing;  // servers whose answer is on its way
  };

  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnSent(const Sent& event);

  // Begins what is next, if nothing is under way.
  void Advance(Host& host);
  void BeginExchange(Ask ask, bool ends_step, Host& host);
  // Gives what it has, bids its servers farewell, and comes to rest.
  void Leave(Host& host);
  void PostAnswers(Host& host);
  void EndExchange(Host& host);
  void EndStep(Host& host);
  Round NominalRound() const;

  const ShardLayout shards_;
  const Rank rank_;
  const AsyncWorkerOptions options_;
  const std::unique_ptr<WorkerRule> rule_;

  Vec gradient_;  // while it is computed
  Round steps_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool given_up_ = false;
  bool left_ = false;              // has bidden farewell
  bool must_pull_ = false;         // before the next step
  int64_t local_ = 0;              // gradients since the last exchange
  int64_t applied_ = 0;            // gradients of all workers, as far as it has heard
  std::vector<int64_t> versions_;  // of the weights that it has, by server
  int64_t exchanges_ = 0;          // begun
  std::optional<Exchange> exchange_;
  std::map<SendId, Waiting> unsent_;
};

// Whose messages take long: many workers ask while one of theirs travels.
//
// An algorithm has no clock; but who travels so long that several others compute a gradient and ask
// meanwhile takes more than its turn of a server. By chance, or where all compute in step, that
// happens to anybody: it holds until the worker's next message in that direction.
class SlowPeers {
 public:
  // Some worker asks.
  void OnAsk() { ++asked_; }
  // A message of the worker, or for it, begins to travel, and ends.
  void Begin(Rank worker) { begun_[worker] = asked_; }
  void End(Rank worker) {
    if (asked_ - begun_.at(worker) >= kMany) {
      slow_.insert(worker);
    } else {
      slow_.erase(worker);
    }
  }
  // Whether its last one took long.
  bool contains(Rank worker) const { return slow_.contains(worker); }

 private:
  // Where all are alike, about two ask while two are served.
  static constexpr int64_t kMany = 4;

  int64_t asked_ = 0;
  std::map<Rank, int64_t> begun_;  // when so many had asked
  std::set<Rank> slow_;
};

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
  // What it keeps beside the weights (Algorithm::VisitState).
  virtual void VisitState(StateVisitor& state) {}
  // Moves the weights by an update, and takes both vectors: the weights move to another one.
  virtual Moved Apply(const Update& update, Vec weights, Host& host) = 0;
};

// A server: it applies each worker's update as it comes, and answers with its
// weights as they are then.
//
// It posts for two updates at a time, and has two answers on their way at most, each of them a
// version of the weights that is never written again. Further workers wait in a queue of their
// offers, bounded by their number, since each has one exchange under way. So memory does not depend
// on how many they are. Workers whose messages take long (SlowPeers) are served one at a time: the
// others pass them at the second place. What an update does to the weights is a rule's matter
// (ServerRule).
//
// When members change, it serves its workers until each has said that it asks no more, or is lost:
// so every update that any server has applied, all have, but one of a worker that died meanwhile.
class AsyncServer final : public Algorithm {
 public:
  // Vectors as long as its range, beside those that the rule keeps: the weights, two updates, and
  // an answer that has other weights.
  static constexpr int64_t kVectors = 4;

  // `rank` is a server's; an update has at most `window` gradients; the run began with so many
  // workers (AlgorithmOptions::PlannedWorkers).
  AsyncServer(ShardLayout shards, Rank rank, int64_t window, Rank workers, StalenessGate gate,
              std::unique_ptr<ServerRule> rule);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  // Of steps, of which it does none.
  Round rests_in() const override { return 0; }
  bool takes_leave() const override { return true; }
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

  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnOffered(const Offered& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnLost(const Lost& event, Host& host);
  absl::Status OnLeft(const Left& event);
  absl::Status OnSent(const Sent& event);
  absl::Status CheckAsk(const Offered& event, Ask ask, const Host& host) const;
  // Posts for a worker's farewell, unless that is done.
  void PostFarewell(Rank worker, Host& host);
  // It has come, or will not; false if this is none that is awaited.
  bool EndFarewell(Rank worker, const Tag& tag, Host& host);
  bool HasLeft(Rank worker) const;

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
  const Rank planned_;
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
  std::map<Rank, Vec> farewells_;  // posted for; none any more: ended
  bool given_up_ = false;
  SlowPeers slow_senders_;
  SlowPeers slow_receivers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_PARAMETER_SERVER_H_
