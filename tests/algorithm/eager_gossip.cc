// The smallest asynchronous algorithm, for the contract suite and for what is refused of such
// algorithms: each node offers its replica to its neighbours at every step, takes all that they
// offer, at rest too, and mixes what has come since its last step. It waits only for its own
// messages: how many steps a neighbour does, nobody knows.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"

namespace grapevine::testing {
namespace {

class EagerGossip final : public Algorithm {
 public:
  explicit EagerGossip(AlgorithmOptions options) : options_(std::move(options)) {
    options_.mixing->Row(options_.rank, 0, &row_);
    peers_.resize(row_.in.size());
  }

  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Start>(event)) {
      replica_ = host.InitialReplica(host.whole_replica());
      optimizer_state_ = host.NewOptimizerState(host.whole_replica());
      started_ = true;
    } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
      limit_ = std::max(limit_, limit->limit);
    } else if (const auto* offered = std::get_if<Offered>(&event)) {
      RETURN_IF_ERROR(Take(*offered, host));
    } else if (const auto* received = std::get_if<Received>(&event)) {
      RETURN_IF_ERROR(Keep(*received, host));
    } else if (const auto* sent = std::get_if<Sent>(&event)) {
      sending_.erase(sent->id);
    } else if (std::holds_alternative<GradientReady>(event)) {
      Step(host);
    }
    if (started_) Go(host);
    return absl::OkStatus();
  }

  Round round() const override { return step_; }
  std::vector<Waiting> waiting_for() const override {
    std::vector<Waiting> waiting;
    if (gradient_) return waiting;
    for (const auto& [id, message] : sending_) waiting.push_back(message);
    return waiting;
  }
  std::vector<Rank> Peers(Round, Round) const override {
    std::vector<Rank> ranks;
    for (const Neighbour& neighbour : row_.in) ranks.push_back(neighbour.rank);
    return ranks;
  }

 private:
  // What is known of an in-neighbour.
  struct Peer {
    Vec posted;
    Vec newest;  // since the last step
  };

  static Tag ReplicaTag(Round step) { return {.channel = 0, .index = step, .step = 0}; }

  absl::StatusOr<Peer*> PeerAt(Rank rank) {
    const auto from = std::ranges::find(row_.in, rank, &Neighbour::rank);
    if (from == row_.in.end()) return absl::InternalError(absl::StrCat("from ", rank));
    return &peers_[from - row_.in.begin()];
  }

  absl::Status Take(const Offered& offered, Host& host) {
    ASSIGN_OR_RETURN(Peer* const peer, PeerAt(offered.from));
    peer->posted = host.New(host.replica_size(), "a neighbour's replica");
    host.Post(offered.from, offered.tag, Part{peer->posted, 0, host.replica_size()}, step_);
    return absl::OkStatus();
  }

  absl::Status Keep(const Received& received, Host& host) {
    ASSIGN_OR_RETURN(Peer* const peer, PeerAt(received.from));
    if (peer->newest) host.Drop(peer->newest);
    peer->newest = std::exchange(peer->posted, Vec{});
    return absl::OkStatus();
  }

  void Step(Host& host) {
    const auto whole = [&](Vec vector) { return Part{vector, 0, host.replica_size()}; };
    std::vector<Term> terms = {{row_.self, whole(replica_)}};
    for (size_t i = 0; i < peers_.size(); ++i) {
      terms.push_back({row_.in[i].weight, whole(peers_[i].newest ? peers_[i].newest : replica_)});
    }
    const Vec next = host.New(host.replica_size(), "the stepped replica");
    host.Step({.range = host.whole_replica(),
               .out = next,
               .mix = terms,
               .own = replica_,
               .gradient = gradient_,
               .state = optimizer_state_,
               .step = step_,
               .learning_rate = options_.learning_rate(step_)});
    host.Drop(std::exchange(gradient_, Vec{}));
    host.Drop(std::exchange(replica_, next));
    Forget(host);
    host.Boundary(++step_, replica_);
  }

  void Forget(Host& host) {
    for (Peer& peer : peers_) {
      if (peer.newest) host.Drop(std::exchange(peer.newest, Vec{}));
    }
  }

  void Go(Host& host) {
    if (gradient_ || !sending_.empty()) return;
    if (step_ < limit_) {
      std::vector<Rank> readers;
      options_.mixing->topology().OutNeighbours(options_.rank, 0, &readers);
      for (const Rank reader : readers) {
        const Waiting message{reader, ReplicaTag(step_)};
        sending_.emplace(
            host.Offer(message.peer, message.tag, Part{replica_, 0, host.replica_size()}), message);
      }
      gradient_ = host.New(host.replica_size(), "the gradient");
      host.Gradient(replica_, gradient_, step_);
    } else if (std::ranges::none_of(peers_, [](const Peer& peer) { return bool{peer.posted}; })) {
      Forget(host);
      host.Rest(replica_);
    }
  }

  const AlgorithmOptions options_;
  MixingRow row_;
  std::vector<Peer> peers_;  // one for each of row_.in
  std::map<SendId, Waiting> sending_;
  Vec replica_, gradient_, optimizer_state_;
  Round step_ = 0, limit_ = 0;
  bool started_ = false;
};

// A buffer and a replica of each in-neighbour; the own replica, the one that is being sent, the
// gradient, the optimizer's state and the output of a pass.
absl::StatusOr<int64_t> Memory(const Spec&, const Topology& topology, int64_t size,
                               int state_vectors) {
  return (2 * LargestInDegree(topology) + 4 + state_vectors) * size;
}

const Registration kEagerGossip(Algorithms(),
                                {.name = "eager-gossip",
                                 .help = "mixes what has come",
                                 .examples = {"eager-gossip"},
                                 .make = [](const Spec&, AlgorithmOptions options)
                                     -> absl::StatusOr<std::unique_ptr<Algorithm>> {
                                   return std::make_unique<EagerGossip>(std::move(options));
                                 },
                                 .rounds = [](const Spec&) { return false; },
                                 .memory = Memory});

}  // namespace
}  // namespace grapevine::testing
