// An algorithm of your own: local steps, and an average with the neighbours after every
// K of them (local SGD, Stich 2019, arXiv:1805.09767, on a graph).
//
//   --algorithm=periodic-gossip:every=4
//
// docs/extending.md walks through it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"

namespace {

using grapevine::Algorithm;
using grapevine::AlgorithmOptions;
using grapevine::Host;
using grapevine::MixingRow;
using grapevine::Part;
using grapevine::Rank;
using grapevine::Round;
using grapevine::Spec;
using grapevine::Tag;
using grapevine::Term;
using grapevine::Topology;
using grapevine::Vec;

class PeriodicGossip final : public Algorithm {
 public:
  PeriodicGossip(int64_t every, AlgorithmOptions options)
      : every_(every), options_(std::move(options)) {}

  absl::Status On(const grapevine::Event& event, Host& host) override {
    if (const auto* limit = std::get_if<grapevine::RoundLimit>(&event)) {
      const bool moved = limit->limit > limit_;
      limit_ = std::max(limit_, limit->limit);
      if (started_ && moved && !in_round_) BeginRound(host);
      return absl::OkStatus();
    }
    if (const auto* start = std::get_if<grapevine::Start>(&event)) {
      round_ = begun_ = start->round;
      replica_ = host.InitialReplica(host.whole_replica());
      optimizer_state_ = host.NewOptimizerState(host.whole_replica());
      if (start->state != nullptr) RETURN_IF_ERROR(VisitState(*start->state, host));
      started_ = true;
      BeginRound(host);
      return absl::OkStatus();
    }
    if (std::holds_alternative<grapevine::Left>(event)) return absl::OkStatus();
    if (!Expected(event, host)) {
      return absl::InternalError(
          absl::StrCat("an event came that nothing had asked for, in round ", round_));
    }
    EndRoundIfComplete(host);
    return absl::OkStatus();
  }

  // What checkpoints keep.
  absl::Status VisitState(grapevine::StateVisitor& state, Host&) override {
    state.Vector("replica", replica_);
    state.Vector("optimizer", optimizer_state_);
    state.Rounds("optimizer.begun", &begun_);
    return absl::OkStatus();
  }

  Round round() const override { return round_; }

  std::vector<grapevine::Waiting> waiting_for() const override {
    std::vector<grapevine::Waiting> waiting;
    for (const Rank rank : missing_) waiting.push_back({rank, ReplicaTag()});
    for (const auto& [id, rank] : unsent_) waiting.push_back({rank, ReplicaTag()});
    return waiting;
  }

  std::vector<Rank> Peers(Round from, Round to) const override {
    std::set<Rank> peers;
    std::vector<Rank> neighbours;
    for (Round round = from; round < to; ++round) {
      graph().InNeighbours(options_.rank, round, &neighbours);
      peers.insert(neighbours.begin(), neighbours.end());
      graph().OutNeighbours(options_.rank, round, &neighbours);
      peers.insert(neighbours.begin(), neighbours.end());
    }
    return {peers.begin(), peers.end()};
  }

 private:
  const Topology& graph() const { return options_.mixing->topology(); }
  bool averages() const { return (round_ + 1) % every_ == 0; }
  Tag ReplicaTag() const { return {.channel = 0, .index = round_, .step = 0}; }

  // Whether the event was asked for; if so, it is recorded.
  bool Expected(const grapevine::Event& event, Host& host) {
    if (!in_round_) return false;
    if (const auto* received = std::get_if<grapevine::Received>(&event)) {
      return received->tag == ReplicaTag() && missing_.erase(received->from) == 1;
    }
    if (const auto* sent = std::get_if<grapevine::Sent>(&event)) {
      return unsent_.erase(sent->id) == 1;
    }
    const auto* ready = std::get_if<grapevine::GradientReady>(&event);
    if (ready == nullptr || stepped_ || ready->round != round_ || !ready->whole()) return false;
    StepAlone(host);
    return true;
  }

  // Computes a gradient, with buffers for the neighbours' replicas where they average.
  void BeginRound(Host& host) {
    if (round_ >= limit_) {
      if (started_) host.Rest(replica_);
      return;
    }
    in_round_ = true;
    stepped_ = false;
    buffers_.clear();
    row_ = {};
    if (averages()) options_.mixing->Row(options_.rank, round_, &row_);
    for (const grapevine::Neighbour& neighbour : row_.in) {
      buffers_.push_back(host.New(host.replica_size(), "a neighbour's replica"));
      missing_.insert(neighbour.rank);
      host.Post(neighbour.rank, ReplicaTag(), Part{buffers_.back(), 0, host.replica_size()},
                round_);
    }
    gradient_ = host.New(host.replica_size(), "the gradient");
    host.Gradient(replica_, gradient_, round_);
  }

  // The stepped replica takes the gradient's place, and leaves for the neighbours.
  void StepAlone(Host& host) {
    const Term own{1.0, {replica_, 0, host.replica_size()}};
    host.Step({.range = host.whole_replica(),
               .out = gradient_,
               .mix = {&own, 1},
               .own = replica_,
               .gradient = gradient_,
               .state = optimizer_state_,
               .step = round_ - begun_,
               .learning_rate = options_.learning_rate(round_)});
    host.Drop(std::exchange(replica_, std::exchange(gradient_, Vec{})));
    stepped_ = true;
    if (!averages()) return;
    std::vector<Rank> readers;
    graph().OutNeighbours(options_.rank, round_, &readers);
    for (const Rank reader : readers) {
      unsent_.emplace(host.Send(reader, ReplicaTag(), Part{replica_, 0, host.replica_size()}),
                      reader);
    }
  }

  void EndRoundIfComplete(Host& host) {
    if (!stepped_ || !missing_.empty() || !unsent_.empty()) return;
    if (averages()) Average(host);
    in_round_ = false;
    ++round_;
    host.Boundary(round_, replica_);
    BeginRound(host);
  }

  void Average(Host& host) {
    std::vector<Term> terms = {{row_.self, {replica_, 0, host.replica_size()}}};
    for (size_t i = 0; i < buffers_.size(); ++i) {
      terms.push_back({row_.in[i].weight, {buffers_[i], 0, host.replica_size()}});
    }
    const Vec mixed = host.New(host.replica_size(), "the mixed replica");
    host.Combine({mixed, 0, host.replica_size()}, terms);
    for (const Vec buffer : buffers_) host.Drop(buffer);
    host.Drop(std::exchange(replica_, mixed));
  }

  const int64_t every_;
  const AlgorithmOptions options_;

  Vec replica_, gradient_, optimizer_state_;
  std::vector<Vec> buffers_;  // one for each of row_.in
  MixingRow row_;
  std::set<Rank> missing_;                    // whose replicas have not come
  std::map<grapevine::SendId, Rank> unsent_;  // to whom the own one is on its way
  Round round_ = 0;
  Round begun_ = 0;  // the first of the optimizer's state
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  bool stepped_ = false;
};

absl::StatusOr<int64_t> Every(const Spec& spec) {
  grapevine::SpecReader reader(spec);
  const int64_t every = reader.Integer("every", 4, 1, 1000000);
  RETURN_IF_ERROR(reader.Finish());
  return every;
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const int64_t every, Every(spec));
  return std::make_unique<PeriodicGossip>(every, std::move(options));
}

// In an average round.
absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology,
                                const grapevine::RunLength&) {
  ASSIGN_OR_RETURN(const int64_t every, Every(spec));
  double messages = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) messages += topology.Degree(rank, 0);
  return messages / static_cast<double>(every);
}

const grapevine::Registration kPeriodicGossip(
    grapevine::Algorithms(),
    {.name = "periodic-gossip",
     .options = "[:every=4]",
     .help = "local steps, and an average with the neighbours after every so many",
     .examples = {"periodic-gossip:every=1", "periodic-gossip:every=3"},
     .make = Make,
     .messages = Messages,
     .advised = [](Rank) { return std::vector<std::string>{"periodic-gossip"}; }});

}  // namespace
