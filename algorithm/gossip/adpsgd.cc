// AD-PSGD: asynchronous decentralized parallel SGD (Lian et al. 2018, arXiv:1710.06952), in which
// no node waits for a slow one.
//
// A node computes gradients one after another, each at its replica as it is then, and applies each
// to its replica as that is when the gradient is ready. After every few steps it averages with one
// neighbour, drawn at random. It offers its share a = x_i. The neighbour answers with its own
// share, b = x_j, and moves to (x_j + a) / 2 at once. This node moves by (b - a) / 2 when b
// arrives, wherever x_i is by then. The two moves are opposite, so the mean over all nodes is kept
// as if the average were atomic, without locks: a node that has begun an average takes part in
// others meanwhile, and no cycle of waits is possible on any graph. (The paper takes locks, and
// bipartite graphs so that these cannot form a cycle.)
//
// Two nodes that ask each other at the same time would both move twice, and trade replicas rather
// than meet. So the higher rank declines while its own share is with the other, and the average
// that it has begun is that of both: the lower rank begins no other average before that one is
// over.
//
// A node has one average of its own under way while the next gradient is computed; a step after
// which the next average is due waits for it. A node takes part in two averages of others at a
// time. Further offers wait in a queue, which is bounded by the neighbours, each of which has one
// average under way: so memory does not depend on the graph.
//
// The steps of all nodes together say where in the run they are, and so where in the schedule of
// the learning rate: the nominal round. No node counts these steps. Instead, nodes average their
// nominal rounds as they do their replicas. Each adds 1 with its own step, so that the mean stays
// the mean of their steps; where m of n nodes are left, each adds m/n, as the steps of all are to
// be n in a nominal round.
//
// Staleness counts the averages that moved the replica while a gradient was computed at it.
//
// An average with a node that is lost ends where it is: the replica has moved or has not, and from
// then on the mean over the other nodes is kept. When members change, a node begins no average and
// joins none until both halves of those under way are over. The next instance goes on from there,
// with the neighbours that it then has, and computes the gradient under way again.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/local/local_optimizer.h"
#include "base/status.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

class Adpsgd final : public Algorithm {
 public:
  // Averages after every `every` steps, at least 1. The graph is undirected and does not change.
  Adpsgd(Round every, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  Round round() const override { return steps_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override { return neighbours_; }

 private:
  // An average that this node has begun.
  struct Own {
    Rank partner;
    int64_t index;
    Vec share;              // a; the replica, until that moves
    Vec answer;             // the buffer for b
    double nominal;         // nominal round of the share
    SendId send;            // the send of the share
    bool received = false;  // b has arrived, and is in the replica unless it was declined
    bool sent = false;      // the share was sent, or declined
    bool declined = false;  // the post for b is being withdrawn
    bool lost = false;      // b will not arrive

    bool over() const { return sent && (received || lost); }
  };
  // An average that a neighbour has begun. First its share is awaited, in a buffer, then the
  // receipt of the answer.
  struct Foreign {
    Rank from;
    int64_t index;
    Vec buffer;   // none once the answer is on its way
    SendId send;  // the send of the answer
  };
  struct Asked {
    Rank from;
    int64_t index;

    friend bool operator==(const Asked&, const Asked&) = default;
  };

  absl::Status OnOffered(const Offered& event);
  absl::Status CheckNominal(Rank from, double nominal) const;
  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  void OnDeclined(Host& host);
  absl::Status OnLost(const Lost& event, Host& host);

  // Does everything that can be done.
  void Advance(Host& host);
  void RestIfDone(Host& host);
  void BeginAverage(Host& host);
  // `nominal` is that of the share or answer that has arrived.
  void Answer(Foreign* average, double nominal, Host& host);
  void Take(double nominal, Host& host);
  // Forgets this node's own average if it is over.
  void EndOwn(Host& host);
  bool ForeignLost(const Lost& event, Host& host);
  bool AwaitsAnswer(Rank from, Tag tag) const;
  // Returns whether the neighbour asks for the average that this node has begun with it.
  bool Crosses(Rank from) const;
  // Returns whether the average that this node has joined is under way.
  bool Joins() const;
  // Moves the replica to a combination of it and others, in a fresh vector.
  void Move(std::span<const Term> terms, Host& host);
  void Replace(Vec replica, Host& host);
  void SetNominal(double nominal);
  Round NominalRound() const;
  // Returns whether a share of this neighbour is awaited, or its offer has not been answered.
  bool Awaits(Rank from) const;

  const Round every_;
  const AlgorithmOptions options_;
  const double furthest_;         // largest distance of a nominal round from 0
  const double progress_;         // nominal rounds in a step of this node
  std::vector<Rank> neighbours_;  // ascending

  Vec replica_;
  Vec gradient_;  // while it is computed
  OwnStep step_;
  Round steps_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool given_up_ = false;
  bool due_ = false;               // whether an average of this node's own is due
  int64_t begun_ = 0;              // averages that this node has begun
  int64_t moves_ = 0;              // averages that have moved the replica
  int64_t moves_at_gradient_ = 0;  // moves_ when the gradient was begun
  double nominal_ = 0;             // nominal round
  std::optional<Own> own_;
  // The average of a neighbour that this node joins, for which the neighbour declined this node's
  // last one.
  std::optional<Asked> joined_;
  std::vector<Foreign> foreign_;
  std::deque<Asked> asked_;
  std::map<Rank, int64_t> last_;  // the last average that each neighbour has begun
};

constexpr uint16_t kChannel = 0;
constexpr uint32_t kShare = 0;
constexpr uint32_t kAnswer = 1;
// The number of others' averages that a node takes part in at a time: while the answer of one
// travels, the share of the next may come.
constexpr size_t kMaxForeign = 2;

// Beyond this, not every round is a double.
constexpr double kMaxRound = 1LL << 53;

Rank PlannedWorkers(const AlgorithmOptions& options) {
  return options.PlannedWorkers(options.mixing->topology().size());
}

// Returns how far from the beginning a nominal round can be: where it would be if one node had done
// all steps of the run. Averages that overlap are not convex, so that it may be below 0, too.
double FurthestRound(const AlgorithmOptions& options) {
  const auto rounds = static_cast<double>(options.length.rounds);
  if (rounds == 0) return kMaxRound;
  return std::min(rounds * PlannedWorkers(options), kMaxRound);
}

// A replica's nominal round travels with it.
Note NoteOf(double nominal) { return {.weight = nominal}; }

Tag ShareTag(int64_t index) { return {kChannel, index, kShare}; }
Tag AnswerTag(int64_t index) { return {kChannel, index, kAnswer}; }

absl::StatusOr<Round> Every(const Spec& spec) {
  SpecReader reader(spec);
  const Round every = reader.Integer("every", 1, 1, 1000000);
  RETURN_IF_ERROR(reader.Finish());
  return every;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAdpsgd(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Round every, Every(spec));
  return std::make_unique<Adpsgd>(every, std::move(options));
}

// Returns a share and an answer for each average; fewer are sent where nodes ask each other at the
// same time.
absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const Round every, Every(spec));
  if (topology.size() == 1) return 0;
  return 2.0 * static_cast<double>(topology.size()) / static_cast<double>(every);
}

// Counts the replica, the vector that it moves to, the replica as the gradient saw it, the gradient
// and the optimizer's state; the own share and the buffer for its answer; a buffer or an answer on
// its way for each average of others, and both for one of these.
absl::StatusOr<int64_t> Memory(const Spec&, const Topology&, int64_t size, int state_vectors) {
  return (7 + int64_t{kMaxForeign} + state_vectors) * size;
}

const Registration kAdpsgd(
    Algorithms(),
    {.name = "adpsgd",
     .options = "[:every=H]",
     .help = "AD-PSGD: each node averages with one neighbour at random after every H steps (1), "
             "and waits for nobody",
     .examples = {"adpsgd", "adpsgd:every=3"},
     .undirected = true,
     .make = MakeAdpsgd,
     .rounds = [](const Spec&) { return false; },
     .window = [](const Spec& spec) { return Every(spec).value_or(1); },
     .resilient = [](const Spec&) { return true; },
     .messages = Messages,
     .memory = Memory});

}  // namespace

Adpsgd::Adpsgd(Round every, AlgorithmOptions options)
    : every_(every),
      options_(std::move(options)),
      furthest_(FurthestRound(options_)),
      progress_(static_cast<double>(options_.mixing->topology().size()) / PlannedWorkers(options_)),
      step_(options_.learning_rate) {
  options_.mixing->topology().InNeighbours(options_.rank, 0, &neighbours_);
}

absl::Status Adpsgd::On(const Event& event, Host& host) {
  if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start, host));
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
  } else if (const auto* offered = std::get_if<Offered>(&event)) {
    RETURN_IF_ERROR(OnOffered(*offered));
  } else if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(OnReceived(*received, host));
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    RETURN_IF_ERROR(OnGradient(*ready, host));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(OnSent(*sent, host));
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    RETURN_IF_ERROR(OnLost(*lost, host));
  }
  if (started_) Advance(host);
  return absl::OkStatus();
}

absl::Status Adpsgd::OnStart(const Start& event, Host& host) {
  replica_ = host.InitialReplica(host.whole_replica());
  step_.Start(event.round, host);
  steps_ = event.round;
  SetNominal(static_cast<double>(event.round));
  if (event.state != nullptr) RETURN_IF_ERROR(VisitState(*event.state, host));
  started_ = true;
  return absl::OkStatus();
}

absl::Status Adpsgd::VisitState(StateVisitor& state, Host&) {
  state.Vector("replica", replica_);
  step_.VisitState(state);
  state.Number("nominal_round", &nominal_);
  state.Rounds("averages_begun", &begun_);
  return absl::OkStatus();
}

// The caller declines the offers that this node has not answered.
void Adpsgd::GiveUp(Host& host) {
  given_up_ = true;
  asked_.clear();
  RestIfDone(host);
}

absl::Status Adpsgd::OnOffered(const Offered& event) {
  const bool neighbour = std::ranges::binary_search(neighbours_, event.from);
  if (!neighbour || event.tag != ShareTag(event.tag.index) || Awaits(event.from)) {
    return absl::InternalError(absl::StrCat(
        "rank ", event.from, " offered ", Describe(event.tag),
        neighbour ? ", which begins no average, or a second one" : ", but is no neighbour"));
  }
  // The answer to an earlier one may still wait for the neighbour's post.
  const auto last = last_.find(event.from);
  if (last != last_.end() && event.tag.index <= last->second) {
    return absl::InternalError(absl::StrCat("rank ", event.from, " offered ", Describe(event.tag),
                                            ", which is not after its average ", last->second));
  }
  last_[event.from] = event.tag.index;
  asked_.push_back({event.from, event.tag.index});
  return absl::OkStatus();
}

bool Adpsgd::Awaits(Rank from) const {
  return std::ranges::any_of(asked_, [&](const Asked& asked) { return asked.from == from; }) ||
         std::ranges::any_of(foreign_, [&](const Foreign& average) {
           return average.from == from && average.buffer;
         });
}

// Checks a neighbour's nominal round: averages would spread what one node says to all.
absl::Status Adpsgd::CheckNominal(Rank from, double nominal) const {
  if (std::abs(nominal) <= furthest_) return absl::OkStatus();  // false for NaN
  return absl::InternalError(absl::StrCat("rank ", from, " says that the run is in round ", nominal,
                                          "; its nodes take ", furthest_, " steps in all"));
}

absl::Status Adpsgd::OnReceived(const Received& event, Host& host) {
  const double nominal = event.note.weight;
  RETURN_IF_ERROR(CheckNominal(event.from, nominal));
  const auto average = std::ranges::find_if(foreign_, [&](const Foreign& average) {
    return average.buffer && average.from == event.from && ShareTag(average.index) == event.tag;
  });
  if (average != foreign_.end()) {
    Answer(&*average, nominal, host);
    return absl::OkStatus();
  }
  if (AwaitsAnswer(event.from, event.tag)) {
    if (!own_->declined) Take(nominal, host);
    own_->received = true;
    EndOwn(host);
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(Describe(event.tag), " of rank ", event.from,
                                          " came without a post in step ", steps_));
}

absl::Status Adpsgd::OnSent(const Sent& event, Host& host) {
  const auto average = std::ranges::find_if(foreign_, [&](const Foreign& average) {
    return !average.buffer && average.send == event.id;
  });
  if (average != foreign_.end()) {
    foreign_.erase(average);
    return absl::OkStatus();
  }
  if (own_ && !own_->sent && own_->send == event.id) {
    own_->sent = true;
    if (!event.delivered) OnDeclined(host);
    EndOwn(host);
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported in step ", steps_,
                                          "; no such share is on its way"));
}

// The decline comes from a higher rank whose own average with this node is under way, or from a
// node that has given up; or the neighbour is lost, in which case it may have answered before.
void Adpsgd::OnDeclined(Host& host) {
  if (own_->received || own_->lost) return;
  own_->declined = true;
  const auto last = last_.find(own_->partner);
  if (last != last_.end()) joined_ = Asked{own_->partner, last->second};
  host.Withdraw(own_->partner, AnswerTag(own_->index));
}

absl::Status Adpsgd::OnLost(const Lost& event, Host& host) {
  if (ForeignLost(event, host)) return absl::OkStatus();
  if (AwaitsAnswer(event.from, event.tag)) {
    own_->lost = true;
    EndOwn(host);
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the post for ", Describe(event.tag), " of rank ",
                                          event.from, " was lost, but is not awaited"));
}

bool Adpsgd::AwaitsAnswer(Rank from, Tag tag) const {
  return own_ && !own_->received && !own_->lost && own_->partner == from &&
         AnswerTag(own_->index) == tag;
}

// Handles the loss of the neighbour whose share was awaited.
bool Adpsgd::ForeignLost(const Lost& event, Host& host) {
  const auto average = std::ranges::find_if(foreign_, [&](const Foreign& average) {
    return average.buffer && average.from == event.from && ShareTag(average.index) == event.tag;
  });
  if (average == foreign_.end()) return false;
  host.Drop(average->buffer);
  foreign_.erase(average);
  return true;
}

absl::Status Adpsgd::OnGradient(const GradientReady& event, Host& host) {
  if (!gradient_ || event.round != steps_ || !event.whole()) {
    return absl::InternalError(absl::StrCat("a gradient of step ", event.round,
                                            " came without a request in step ", steps_));
  }
  if (given_up_) {
    host.Drop(std::exchange(gradient_, Vec{}));
    return absl::OkStatus();
  }
  const Vec stepped =
      step_.Take(replica_, std::exchange(gradient_, Vec{}), steps_, NominalRound(), host);
  host.GradientApplied(moves_ - moves_at_gradient_);
  Replace(stepped, host);
  ++steps_;
  SetNominal(nominal_ + progress_);
  due_ = steps_ % every_ == 0 && !neighbours_.empty();
  host.Boundary(steps_, replica_);
  return absl::OkStatus();
}

void Adpsgd::Advance(Host& host) {
  if (due_ && !given_up_ && !own_ && !Joins()) BeginAverage(host);
  if (!gradient_ && !due_ && !given_up_ && steps_ < limit_) {
    gradient_ = host.New(host.replica_size(), "the gradient");
    moves_at_gradient_ = moves_;
    host.Gradient(replica_, gradient_, steps_);
  }
  while (foreign_.size() < kMaxForeign && !asked_.empty()) {
    const Asked asked = asked_.front();
    asked_.pop_front();
    if (Crosses(asked.from)) {
      host.Decline(asked.from, ShareTag(asked.index));
      continue;
    }
    const Vec buffer = host.New(host.replica_size(), "a neighbour's share");
    foreign_.push_back({.from = asked.from, .index = asked.index, .buffer = buffer, .send = {}});
    host.Post(asked.from, ShareTag(asked.index), host.Whole(buffer), steps_);
  }
  RestIfDone(host);
}

void Adpsgd::RestIfDone(Host& host) {
  const bool done = given_up_ || (steps_ >= limit_ && !due_);
  if (done && !gradient_ && !own_ && foreign_.empty()) host.Rest(replica_);
}

bool Adpsgd::Crosses(Rank from) const {
  return own_ && !own_->received && own_->partner == from && options_.rank > from;
}

bool Adpsgd::Joins() const {
  const auto is_joined = [this](const auto& average) {
    return joined_ == Asked{average.from, average.index};
  };
  return std::ranges::any_of(foreign_, is_joined) || std::ranges::any_of(asked_, is_joined);
}

void Adpsgd::BeginAverage(Host& host) {
  due_ = false;
  joined_.reset();
  KeyedRandom random(options_.seed, Purpose::kPartner, static_cast<uint64_t>(options_.rank),
                     static_cast<uint64_t>(begun_));
  const Rank partner = neighbours_[random.Below(neighbours_.size())];
  own_ = {.partner = partner,
          .index = begun_++,
          .share = replica_,
          .answer = host.New(host.replica_size(), "a neighbour's share"),
          .nominal = nominal_,
          .send = {}};
  host.Post(partner, AnswerTag(own_->index), host.Whole(own_->answer), steps_);
  own_->send = host.Offer(partner, ShareTag(own_->index), host.Whole(replica_), NoteOf(nominal_));
}

void Adpsgd::Answer(Foreign* average, double nominal, Host& host) {
  average->send =
      host.Send(average->from, AnswerTag(average->index), host.Whole(replica_), NoteOf(nominal_));
  SetNominal(0.5 * (nominal_ + nominal));
  const Term terms[] = {{0.5, host.Whole(replica_)}, {0.5, host.Whole(average->buffer)}};
  Move(terms, host);
  host.Drop(std::exchange(average->buffer, Vec{}));
}

void Adpsgd::Take(double nominal, Host& host) {
  SetNominal(nominal_ + 0.5 * (nominal - own_->nominal));
  const Part answer = host.Whole(own_->answer);
  if (own_->share == replica_) {  // as at the other end, so that both have the same bits
    const Term terms[] = {{0.5, answer}, {0.5, host.Whole(replica_)}};
    own_->share = {};
    Move(terms, host);
  } else {
    const Term terms[] = {
        {1.0, host.Whole(replica_)}, {0.5, answer}, {-0.5, host.Whole(own_->share)}};
    Move(terms, host);
    host.Drop(std::exchange(own_->share, Vec{}));
  }
  host.Drop(std::exchange(own_->answer, Vec{}));
}

void Adpsgd::EndOwn(Host& host) {
  if (!own_->over()) return;
  if (own_->share && own_->share != replica_) host.Drop(own_->share);
  if (own_->answer) host.Drop(own_->answer);
  own_.reset();
}

void Adpsgd::Move(std::span<const Term> terms, Host& host) {
  const Vec moved = host.New(host.replica_size(), "the averaged replica");
  host.Combine(host.Whole(moved), terms);
  Replace(moved, host);
  ++moves_;
}

void Adpsgd::Replace(Vec replica, Host& host) {
  const Vec before = std::exchange(replica_, replica);
  if (!own_ || own_->share != before) host.Drop(before);
}

// What a neighbour says moves this node no further than to a nominal round that this node may say
// itself.
void Adpsgd::SetNominal(double nominal) { nominal_ = std::clamp(nominal, -furthest_, furthest_); }

Round Adpsgd::NominalRound() const { return static_cast<Round>(std::max(nominal_, 0.0)); }

std::vector<Waiting> Adpsgd::waiting_for() const {
  if (gradient_) return {};
  std::vector<Waiting> waiting;
  if (own_) {
    waiting.push_back(
        {own_->partner, own_->received ? ShareTag(own_->index) : AnswerTag(own_->index)});
  }
  for (const Foreign& average : foreign_) {
    waiting.push_back(
        {average.from, average.buffer ? ShareTag(average.index) : AnswerTag(average.index)});
  }
  return waiting;
}

}  // namespace grapevine
