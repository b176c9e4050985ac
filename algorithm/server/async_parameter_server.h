// Asynchronous parameter servers and their workers, which do not go through rounds together. Their
// messages are in async_exchange.h. Rules say what an update is and what it does (WorkerRule,
// ServerRule).
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

// Says what a worker does between two exchanges.
class WorkerRule {
 public:
  virtual ~WorkerRule() = default;

  // Takes the model with which the worker begins, before this step.
  virtual void Start(Vec model, Round step, Host& host) = 0;
  // Shows what the rule keeps right after an exchange; see Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state) = 0;
  // Returns the model at which gradients are computed.
  virtual Vec model() const = 0;
  // Takes the gradient at the model. `step` is the worker's step, counted from 0; `nominal_round`
  // says how far the run is (Update).
  virtual void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) = 0;
  // Returns the vector to give to the servers. It must not be written until they have answered.
  // Called after a gradient; no gradient follows before the answer.
  virtual Vec Push(Host& host) = 0;
  // Takes the servers' answer, after a push or without one.
  virtual void OnAnswer(Vec answer, Host& host) = 0;
};

// The most gradients from one exchange to the next.
inline constexpr int64_t kMaxWindow = 1'000'000;

struct AsyncWorkerOptions {
  // Gradients from one exchange to the next.
  int64_t window = 1;
  // Whether servers must know which workers are at their limit (Ask::kLastPush).
  bool tells_limit = false;
  // Number of workers that the run began with (AlgorithmOptions::PlannedWorkers).
  Rank workers = 1;
};

// A worker computes gradients, gives its servers an update after every few of them, and goes on
// with what they answer, whatever the other workers do.
//
// It has one exchange under way, and computes nothing meanwhile. At its limit (RoundLimit) it gives
// what it has, even if these are fewer gradients, so that nothing is lost when the run ends there.
// A rule says what an update is and what becomes of the answer (WorkerRule).
//
// When members change, the worker ends the exchange under way, gives what it has, and says so to
// its servers (kFarewell). The gradient under way is computed again in the next view.
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
  // Gives the servers what the worker has, bids them farewell, and comes to rest.
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
  bool left_ = false;       // has bidden farewell
  bool must_pull_ = false;  // must ask to go on before the next step
  int64_t local_ = 0;       // gradients since the last exchange
  int64_t applied_ = 0;     // gradients of all workers that are applied, as far as it has heard
  std::vector<int64_t> versions_;  // versions of the weights that it has, by server
  int64_t exchanges_ = 0;          // exchanges begun
  std::optional<Exchange> exchange_;
  std::map<SendId, Waiting> unsent_;
};

// The workers whose messages take long: while a message of such a worker travels, many workers ask.
//
// An algorithm has no clock. But a worker whose message travels while several others compute a
// gradient and ask takes more than its turn of a server. By chance, or where all workers compute in
// step, this happens to any worker; it holds until the worker's next message in that direction.
class SlowPeers {
 public:
  // Records that some worker asks.
  void OnAsk() { ++asked_; }
  // A message of the worker, or for it, begins to travel (Begin) and ends its travel (End).
  void Begin(Rank worker) { begun_[worker] = asked_; }
  void End(Rank worker) {
    if (asked_ - begun_.at(worker) >= kMany) {
      slow_.insert(worker);
    } else {
      slow_.erase(worker);
    }
  }
  // Whether the worker's last message took long.
  bool contains(Rank worker) const { return slow_.contains(worker); }

 private:
  // A message is slow if at least this number of workers ask while it travels. Where all workers
  // are alike, about two ask while two are served.
  static constexpr int64_t kMany = 4;

  int64_t asked_ = 0;
  std::map<Rank, int64_t> begun_;  // the value of asked_ when the message began
  std::set<Rank> slow_;
};

// An update that has arrived at a server.
struct Update {
  Vec vector;           // as long as the server's range
  int64_t version;      // number of updates before it
  int64_t staleness;    // number of updates since the weights at which it was made
  Round nominal_round;  // gradients of all workers before it, divided by the planned workers
};

// Says what a server does with updates.
class ServerRule {
 public:
  struct Moved {
    Vec weights;
    Vec answer = {};  // none: the weights
  };

  virtual ~ServerRule() = default;

  // Called before the first update.
  virtual void Start(ReplicaRange range, Host& host) {}
  // Shows what the rule keeps in addition to the weights; see Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state) {}
  // Moves the weights by an update. Takes over both vectors, and returns the moved weights in a
  // vector other than `weights`.
  virtual Moved Apply(const Update& update, Vec weights, Host& host) = 0;
};

// A server applies each worker's update as it arrives, and answers with its weights as they are
// then.
//
// It posts for two updates at a time, and has at most two answers on their way, each of them a
// version of the weights that is never written again. The offers of further workers wait in a
// queue. Its length is bounded by the number of workers, since each has one exchange under way;
// memory does not depend on that number. Workers whose messages take long (SlowPeers) are served
// one at a time: the others pass them at the second place. A rule says what an update does to the
// weights (ServerRule).
//
// When members change, the server serves its workers until each has said that it asks no more, or
// is lost. Every update that one server has applied has then been applied by all servers, except an
// update of a worker that died meanwhile.
class AsyncServer final : public Algorithm {
 public:
  // Number of vectors as long as the server's range, without those that the rule keeps: the
  // weights, two updates, and an answer that has other weights.
  static constexpr int64_t kVectors = 4;

  // `rank` must be a server's. An update has at most `window` gradients. `workers` is the number of
  // workers that the run began with (AlgorithmOptions::PlannedWorkers).
  AsyncServer(ShardLayout shards, Rank rank, int64_t window, Rank workers, StalenessGate gate,
              std::unique_ptr<ServerRule> rule);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  // Rounds count steps, and a server does none.
  Round rests_in() const override { return 0; }
  bool takes_leave() const override { return true; }
  // Returns the number of updates so far.
  Round round() const override { return version_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round, Round) const override { return shards_.WorkerRanks(); }

 private:
  // The exchange of a worker, from its offer until its answer is sent.
  struct Exchange {
    int64_t index;
    Ask ask;
    int64_t gradients;
    int64_t made_at;  // the version of the weights at which the update was made
    Vec vector = {};  // the update, or the answer where that is not the weights
  };

  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnOffered(const Offered& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnLost(const Lost& event, Host& host);
  absl::Status OnLeft(const Left& event);
  absl::Status OnSent(const Sent& event);
  absl::Status CheckAsk(const Offered& event, Ask ask, const Host& host) const;
  // Posts for a worker's farewell, unless that has been done.
  void PostFarewell(Rank worker, Host& host);
  // Ends the post for a worker's farewell, which has arrived or never will. Returns false if no
  // such farewell is awaited.
  bool EndFarewell(Rank worker, const Tag& tag, Host& host);
  bool HasLeft(Rank worker) const;

  // Does all that can be done now.
  void Advance(Host& host);
  // Sends the next answer (AnswerNext) or applies the next update (ApplyNext). Returns whether one
  // was ready.
  bool AnswerNext(Host& host);
  bool ApplyNext(Host& host);
  void Apply(Exchange* exchange, Host& host);
  // Posts for the next offer. Returns whether there was one that may be posted for.
  bool PostNext(Host& host);
  bool IsSlow(Rank worker) const {
    return slow_senders_.contains(worker) || slow_receivers_.contains(worker);
  }
  // Whether a slow worker has an update or an answer on its way, or about to be.
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
  int64_t gradients_ = 0;  // gradients that have gone into the weights
  std::map<Rank, Exchange> open_;
  std::map<Rank, int64_t> last_;  // the last exchange of each worker
  // Each worker in open_ is in one of these. The queues keep the order in which workers entered
  // them.
  std::deque<Rank> offered_;
  std::set<Rank> posted_;
  std::deque<Rank> received_;
  std::deque<Rank> applied_;
  std::map<SendId, Waiting> leaving_;  // answers that have not left
  std::map<SendId, Waiting> unsent_;
  std::map<Rank, Vec> farewells_;  // by worker; no vector: the farewell has ended
  bool given_up_ = false;
  SlowPeers slow_senders_;
  SlowPeers slow_receivers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_PARAMETER_SERVER_H_
