#include "algorithm/dpsgd.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr uint16_t kReplicaChannel = 0;

Tag ReplicaTag(Round round) { return {kReplicaChannel, round, 0}; }

// Weights act in single precision. The own one takes up their rounding, so that
// a row still sums to 1 and the mean does not drift over a million rounds.
void RoundWeights(MixingRow* row) {
  row->self = 1;
  for (Neighbour& neighbour : row->in) {
    neighbour.weight = static_cast<float>(neighbour.weight);
    row->self -= neighbour.weight;
  }
}

Part Whole(Vec vector, const Host& host) { return {vector, 0, host.replica_size()}; }

}  // namespace

Dpsgd::Dpsgd(DpsgdOrder order, AlgorithmOptions options)
    : order_(order), options_(std::move(options)) {}

absl::Status Dpsgd::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) return OnLimit(*limit, host);
  replica_ = host.InitialReplica(host.whole_replica());
  optimizer_state_ = host.NewOptimizerState(host.whole_replica());
  started_ = true;
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status Dpsgd::OnReceived(const Received& event, Host& host) {
  for (Inbox& inbox : inboxes_) {
    if (ReplicaTag(inbox.round) != event.tag) continue;
    for (size_t i = 0; i < inbox.row.in.size(); ++i) {
      if (inbox.row.in[i].rank != event.from || inbox.arrived[i]) continue;
      inbox.arrived[i] = true;
      --inbox.missing;
      EndRoundIfComplete(host);
      return absl::OkStatus();
    }
  }
  return absl::InternalError(absl::StrCat("a replica of rank ", event.from, " for round ",
                                          event.tag.round, " came unposted in round ", round_));
}

absl::Status Dpsgd::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || gradient_ready_ || event.round != round_) {
    return absl::InternalError(
        absl::StrCat("a gradient of round ", event.round, " came unasked in round ", round_));
  }
  gradient_ready_ = true;
  if (order_ == DpsgdOrder::kAtc) AdaptBeforeCombine(host);
  EndRoundIfComplete(host);
  return absl::OkStatus();
}

absl::Status Dpsgd::OnSent(const Sent& event, Host& host) {
  if (unsent_.erase({event.tag.round, event.to}) == 0) {
    return absl::InternalError(absl::StrCat("the replica of round ", event.tag.round,
                                            " was reported sent to rank ", event.to,
                                            ", where none is on its way"));
  }
  EndRoundIfComplete(host);
  RestIfDone(host);
  return absl::OkStatus();
}

absl::Status Dpsgd::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return absl::OkStatus();
  limit_ = event.limit;
  if (!started_) return absl::OkStatus();
  PostAhead(host);
  if (!in_round_) BeginRound(host);
  return absl::OkStatus();
}

void Dpsgd::PostAhead(Host& host) {
  for (; posted_ < std::min(limit_, round_ + options_.window); ++posted_) {
    Inbox inbox{.round = posted_, .row = {}, .replicas = {}, .arrived = {}, .missing = 0};
    options_.mixing->Row(options_.rank, posted_, &inbox.row);
    RoundWeights(&inbox.row);
    for (const Neighbour& neighbour : inbox.row.in) {
      inbox.replicas.push_back(host.New(host.replica_size()));
      host.Post(neighbour.rank, ReplicaTag(posted_), Whole(inbox.replicas.back(), host));
    }
    inbox.missing = inbox.row.in.size();
    inbox.arrived.resize(inbox.missing);
    inboxes_.push_back(std::move(inbox));
  }
}

void Dpsgd::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  PostAhead(host);
  in_round_ = true;
  gradient_ready_ = false;
  gradient_ = host.New(host.replica_size());
  host.Gradient(replica_, gradient_, round_);
  if (order_ == DpsgdOrder::kAwc) ShareReplica(host);
}

void Dpsgd::ShareReplica(Host& host) {
  std::vector<Rank> to;
  options_.mixing->topology().OutNeighbours(options_.rank, round_, &to);
  for (Rank peer : to) {
    unsent_.insert({round_, peer});
    host.Send(peer, ReplicaTag(round_), Whole(replica_, host));
  }
}

// The new replica takes the gradient's place: a vector less at the peak.
Vec Dpsgd::StepOverGradient(std::span<const Term> mix, Host& host) {
  const Vec stepped = std::exchange(gradient_, Vec{});
  host.Step(host.whole_replica(), stepped, mix, replica_, stepped, optimizer_state_,
            {.learning_rate = options_.learning_rate(round_)});
  return stepped;
}

void Dpsgd::AdaptBeforeCombine(Host& host) {
  const Term own{1.0, Whole(replica_, host)};
  const Vec adapted = StepOverGradient({&own, 1}, host);
  host.Drop(std::exchange(replica_, adapted));
  ShareReplica(host);
}

std::vector<Term> Dpsgd::MixTerms(const Host& host) const {
  const Inbox& inbox = inboxes_.front();
  const Term own{inbox.row.self, Whole(replica_, host)};
  std::vector<Term> terms;
  bool own_placed = false;
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    if (!own_placed && inbox.row.in[i].rank > options_.rank) {
      terms.push_back(own);
      own_placed = true;
    }
    terms.push_back({inbox.row.in[i].weight, Whole(inbox.replicas[i], host)});
  }
  if (!own_placed) terms.push_back(own);
  return terms;
}

void Dpsgd::EndRoundIfComplete(Host& host) {
  if (!in_round_ || !gradient_ready_ || inboxes_.front().missing > 0 || Lagging()) return;
  const std::vector<Term> terms = MixTerms(host);
  Vec mixed;
  if (order_ == DpsgdOrder::kAwc) {
    mixed = StepOverGradient(terms, host);
  } else {
    mixed = host.New(host.replica_size());
    host.Combine(Whole(mixed, host), terms);
  }
  for (Vec replica : inboxes_.front().replicas) host.Drop(replica);
  inboxes_.pop_front();
  host.Drop(std::exchange(replica_, mixed));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
  BeginRound(host);
}

void Dpsgd::RestIfDone(Host& host) {
  if (started_ && !in_round_ && round_ >= limit_ && unsent_.empty()) host.Rest(replica_);
}

std::vector<Waiting> Dpsgd::waiting_for() const {
  std::vector<Waiting> waiting;
  if (!in_round_) return waiting;
  const Inbox& inbox = inboxes_.front();
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    if (!inbox.arrived[i]) waiting.push_back({inbox.row.in[i].rank, ReplicaTag(inbox.round)});
  }
  for (const auto& [round, peer] : unsent_) {
    if (round < round_) waiting.push_back({peer, ReplicaTag(round)});
  }
  return waiting;
}

std::vector<Rank> Dpsgd::Peers(Round from, Round to) const {
  const Topology& topology = options_.mixing->topology();
  // A graph with a period shows all its edges within one.
  if (topology.period() > 0) to = std::min(to, from + topology.period());
  std::set<Rank> peers;
  std::vector<Rank> neighbours;
  for (Round round = from; round < to; ++round) {
    topology.InNeighbours(options_.rank, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
    topology.OutNeighbours(options_.rank, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
