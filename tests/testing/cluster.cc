#include "tests/testing/cluster.h"

#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/membership/admission.h"
#include "algorithm/membership/resilient_algorithm.h"
#include "base/status.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"
#include "run/checkpoint/node_state.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

// "round 2, step 1 of channel 1", what is 0 left out.
std::string Name(const Tag& tag) {
  return absl::StrCat("round ", tag.index, tag.step == 0 ? "" : absl::StrCat(", step ", tag.step),
                      tag.channel == 0 ? "" : absl::StrCat(" of channel ", tag.channel));
}

void Copy(const SharedSlice& from, const SharedSlice& to) {
  CHECK_EQ(from.size, to.size) << "a message and its place differ in size";
  std::copy_n(from.begin(), from.size, to.begin());
}

}  // namespace

// One algorithm and its host.
class Cluster::Node final : public Host {
 public:
  Node(Rank rank, Cluster& cluster)
      : rank_(rank), cluster_(cluster), members_(FirstView(cluster.options_.nodes).members) {}

  void Adopt(std::unique_ptr<Algorithm> algorithm) { algorithm_ = std::move(algorithm); }

  absl::Status Deliver(const Event& event) {
    resting_ = false;
    return algorithm_->On(event, *this);
  }
  absl::Status Begin() {
    const Round begin = completed_ = cluster_.options_.begin;
    if (cluster_.options_.resume.empty()) return Deliver(Start{.round = begin});
    StateRestorer state(&cluster_.options_.resume[rank_],
                        {.size = [this](Vec vector) { return vectors_.size(vector); },
                         .fill =
                             [this](Vec vector, std::span<const float> saved) {
                               std::ranges::copy(saved, vectors_.At(vector).data.get());
                             }});
    if (cluster_.budget_) completed_ = cluster_.options_.resume[rank_].round;
    RETURN_IF_ERROR(Deliver(Start{.round = completed_, .state = &state}));
    return state.Finish();
  }
  // Comes in with this view.
  absl::Status Join(const View& view) {
    completed_ = view.from;
    members_ = view.members;
    came_in_ = view.epoch;
    RETURN_IF_ERROR(HearLimit());
    return Deliver(Start{.round = view.from, .joins = &view});
  }
  void OnLimitMoved() { limit_due_ = true; }
  absl::Status HearLimit() {
    limit_due_ = false;
    const Round limit = cluster_.LimitOf(rank_);
    if (limit == std::exchange(limit_, limit)) return absl::OkStatus();
    return Deliver(RoundLimit{limit});
  }

  void Choices(std::vector<Choice>* choices) const {
    if (detection_due_) choices->push_back({Choice::Kind::kDetection, rank_});
    if (!promises_.empty()) choices->push_back({Choice::Kind::kPromise, rank_});
    if (dead_) return;
    if (!decrees_.empty()) choices->push_back({Choice::Kind::kDecree, rank_});
    if (!gradients_.empty()) choices->push_back({Choice::Kind::kGradient, rank_});
    if (!sent_.empty()) choices->push_back({Choice::Kind::kSent, rank_});
    if (limit_due_) choices->push_back({Choice::Kind::kLimit, rank_});
    for (const auto& [name, message] : arriving_) {
      const bool posted = posts_.contains(name);
      if (!posted && (!message.offered || message.announced)) continue;
      choices->push_back(
          {posted ? Choice::Kind::kMessage : Choice::Kind::kOffer, rank_, name.first, name.second});
    }
    for (const auto& [from, tag] : withdrawn_) {
      choices->push_back({Choice::Kind::kLoss, rank_, from, tag});
    }
  }

  absl::Status Take(const Choice& choice) {
    switch (choice.kind) {
      case Choice::Kind::kGradient:
        return TakeGradient();
      case Choice::Kind::kSent:
        return TakeSent();
      case Choice::Kind::kMessage:
        return TakeMessage(choice.from, choice.tag);
      case Choice::Kind::kOffer:
        return TakeOffer(choice.from, choice.tag);
      case Choice::Kind::kLoss:
        return TakeLoss(choice.from, choice.tag);
      case Choice::Kind::kLimit:
        return HearLimit();
      case Choice::Kind::kDetection:
        NoticeDeath();
        return absl::OkStatus();
      case Choice::Kind::kDecree:
        return TakeDecree();
      case Choice::Kind::kPromise:
        return TakePromise();
    }
    return absl::OkStatus();
  }

  void Kill() {
    Say("dies");
    dead_ = true;
    detection_due_ = true;
  }
  bool dead() const { return dead_; }
  bool came_in() const { return came_in_ > 0; }
  bool has_model() const {
    return std::ranges::none_of(posts_, [this](const auto& post) {
      const Tag& tag = post.first.second;
      return IsOfAdmission(tag) && tag.index == static_cast<Round>(came_in_);
    });
  }
  void NoticeDeath() {
    if (!std::exchange(detection_due_, false)) return;
    cluster_.agreement_->Lose(rank_);
    cluster_.LeaveBudget(rank_);
    cluster_.SendDecrees();
  }
  void Tell(const ViewAgreement::Decree& decree) { decrees_.push_back(decree); }

  void Lose(const Choice& choice) {
    const Message lost = arriving_.extract(std::pair(choice.from, choice.tag)).mapped();
    cluster_.nodes_[choice.from]->sent_.push_back({Left{lost.id}, rank_, choice.tag});
  }

  // Host:
  int64_t replica_size() const override { return cluster_.layout_.size; }
  int64_t SizeOf(Vec vector) const override { return vectors_.size(vector); }
  ReplicaRange parameters() const override { return {0, cluster_.layout_.parameter_size}; }
  Vec InitialReplica(ReplicaRange range) override {
    std::vector<float> whole(replica_size());
    if (cluster_.options_.initial) cluster_.options_.initial(rank_, whole);
    const Vec replica = vectors_.New(range.size, "the starting replica");
    std::copy_n(whole.begin() + range.offset, range.size, vectors_.At(replica).data.get());
    return replica;
  }
  Vec New(int64_t size, const char* role) override { return vectors_.New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override {
    const int64_t size = OptimizerStateSize(*cluster_.optimizer_, cluster_.layout_, range);
    const Vec state = vectors_.New(size, "the optimizer's state");
    vectors_.Clear(state);
    return state;
  }
  void Drop(Vec vector) override {
    steps_.erase(vector.id);
    vectors_.Drop(vector);
  }
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override {
    Say(absl::StrCat("computes its gradient of round ", round));
    gradient_.assign(replica_size(), 0.0f);
    cluster_.options_.gradient(rank_, round, vectors_.At(at).span(), gradient_);
    gradient_into_ = vectors_.At(into);
    gradient_from_ = replica_size();
    for (const int64_t cut : cuts) gradients_.push_back(GradientReady{round, cut});
    gradients_.push_back(GradientReady{round});
  }
  void Combine(Part out, std::span<const Term> terms) override {
    Say(absl::StrCat("combines ", terms.size(), " vectors of ", out.size));
    vectors_.Combine(out, terms);
  }
  void Clip(Part part, double limit) override {
    Say(absl::StrCat("clips a vector of ", part.size, " to ", limit));
    vectors_.Clip(part, limit);
  }
  void Step(const StepRequest& request) override {
    Say(absl::StrCat("mixes ", request.mix.size(), " vectors and steps"));
    // Those that a restored state has taken before, or one that was carried from view to view.
    const bool restored = !cluster_.options_.resume.empty();
    const bool carried = cluster_.agreement_ && cluster_.view().epoch > 0;
    const int64_t before = carried || (restored && cluster_.budget_) ? request.step
                           : restored                                ? cluster_.options_.begin
                                                                     : 0;
    const auto [steps, first] = steps_.try_emplace(request.state.id, before);
    CHECK_EQ(request.step, steps->second++) << "the steps of a state are miscounted";
    ApplyStep(*cluster_.optimizer_, cluster_.layout_, request, vectors_);
  }
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override {
    Say(absl::StrCat("sends ", Name(tag), " to ", to));
    if (cluster_.rounds_ && !IsOfAdmission(tag)) {
      CHECK_EQ(tag.index, completed_) << "sent beside the round's boundaries";
    }
    return Dispatch(to, tag, payload, note, false);
  }
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override {
    Say(absl::StrCat("offers ", Name(tag), " to ", to));
    return Dispatch(to, tag, payload, note, true);
  }
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit) override {
    Say(absl::StrCat("posts ", Name(tag), " for ", from));
    if (cluster_.rounds_) CHECK_GE(round, completed_) << "posted for a round that is over";
    const std::pair name(from, tag);
    const auto offer = arriving_.find(name);
    const bool answers = offer != arriving_.end() && offer->second.announced;
    const Posted posted{.slice = vectors_.Slice(std::get<Part>(into)), .answers = answers};
    CHECK(posts_.emplace(name, posted).second) << "posted twice";
    if (left_out_.contains(from)) withdrawn_.insert(name);
  }
  void Decline(Rank from, Tag tag) override {
    Say(absl::StrCat("declines ", Name(tag), " of ", from));
    const std::pair name(from, tag);
    const auto offer = arriving_.find(name);
    CHECK(offer != arriving_.end() && offer->second.announced && !posts_.contains(name))
        << "declined what is not offered";
    cluster_.nodes_[from]->sent_.push_back({Sent{offer->second.id, false}, rank_, tag});
    arriving_.erase(offer);
  }
  // Whoever answered an offer gets the message: its sender has it ready.
  void Withdraw(Rank from, Tag tag) override {
    Say(absl::StrCat("withdraws ", Name(tag), " for ", from));
    const std::pair name(from, tag);
    const auto post = posts_.find(name);
    CHECK(post != posts_.end() && !post->second.asked_back) << "withdrew what is not posted";
    post->second.asked_back = true;
    if (!post->second.answers) withdrawn_.insert(name);
  }
  void Promise(uint32_t ballot, Round round) override {
    Say(absl::StrCat("promises not to begin round ", round + 1));
    promises_.push_back({ballot, round});
  }
  void BeginView(const View& view, Vec model) override {
    Say(absl::StrCat("begins view ", view.epoch));
    if (view.checkpoint > 0) SaveState(algorithm_->round(), model);
    if (cluster_.options_.at_view) ShowReplica(view);
    for (const Member newcomer : view.newcomers) {
      const auto left_out = left_out_.find(newcomer);
      if (left_out != left_out_.end() && left_out->second < view.epoch) left_out_.erase(left_out);
    }
  }
  void GradientApplied(int64_t staleness) override {
    Say(absl::StrCat("applies a gradient of staleness ", staleness));
    staleness_.Add(staleness);
  }
  void Boundary(Round completed, Vec model) override {
    Say(absl::StrCat("ends round ", completed - 1));
    completed_ = completed;
    ReportSteps();
    if (completed == cluster_.options_.save_at) SaveState(completed, model);
    if (cluster_.options_.at_boundary) {
      cluster_.options_.at_boundary(rank_, completed, Numbers(model));
    }
    for (const Rank peer : algorithm_->Peers(completed, completed + 1)) {
      const Round lead = completed - cluster_.nodes_[peer]->algorithm_->round();
      cluster_.largest_lead_ = std::max(cluster_.largest_lead_, lead);
    }
  }
  void Rest(Vec model) override {
    Say("rests");
    CHECK_EQ(not_received_, 0) << "rests before its peers have its messages";
    resting_ = true;
    model_ = model;
  }

  bool resting() const { return resting_; }
  const NodeState& saved() const {
    CHECK(saver_ && saver_->complete()) << "rank " << rank_ << " has not got its whole state";
    return saver_->state();
  }
  const Algorithm& algorithm() const { return *algorithm_; }
  const VectorTable& vectors() const { return vectors_; }
  std::span<const float> model() const { return Numbers(model_); }
  int64_t bytes_sent() const { return bytes_sent_; }
  const Staleness& staleness() const { return staleness_; }

 private:
  struct Message {
    SendId id;  // the sender's
    SharedSlice slice;
    Note note;
    bool offered = false;
    bool announced = false;  // the offer has arrived
  };
  struct Posted {
    SharedSlice slice;
    bool answers = false;  // an offer
    bool asked_back = false;
  };
  // What a node is to hear of a message that it sent.
  struct Outcome {
    Event event;
    Rank to;
    Tag tag;
  };

  SendId Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note, bool offered) {
    const Message message{.id = {++last_send_.id},
                          .slice = vectors_.Slice(std::get<Part>(payload)),
                          .note = note,
                          .offered = offered};
    if (!offered) bytes_sent_ += message.slice.bytes();
    const bool ended = std::ranges::none_of(
        sent_, [&](const Outcome& last) { return last.to == to && last.tag == tag; });
    ++not_received_;
    if (left_out_.contains(to)) {
      sent_.push_back({Sent{message.id, false}, to, tag});
      return message.id;
    }
    CHECK(cluster_.nodes_[to]->arriving_.emplace(std::pair(rank_, tag), message).second && ended)
        << "a tag is used again before its last message has ended";
    return message.id;
  }

  absl::Status TakeDecree() {
    const ViewAgreement::Decree decree = decrees_.front();
    decrees_.pop_front();
    if (const auto* prepare = std::get_if<Prepare>(&decree)) return Deliver(*prepare);
    const View& agreed = std::get<View>(decree);
    Say(absl::StrCat("hears of view ", agreed.epoch, ", from round ", agreed.from, " on"));
    RETURN_IF_ERROR(Deliver(ViewChanged{&*std::ranges::find(cluster_.views_, agreed)}));
    for (const Member member : std::exchange(members_, agreed.members)) {
      if (!agreed.RankOf(member)) LeaveOut(member, agreed.epoch);
    }
    return absl::OkStatus();
  }
  // Ends what is under way between the two.
  void LeaveOut(Rank lost, uint32_t epoch) {
    left_out_[lost] = epoch;
    for (const auto& [name, post] : posts_) {
      if (name.first == lost) withdrawn_.insert(name);
    }
    std::erase_if(arriving_, [lost](const auto& message) { return message.first.first == lost; });
    std::erase_if(cluster_.nodes_[lost]->arriving_, [&](const auto& message) {
      const auto& [from, tag] = message.first;
      if (from != rank_) return false;
      sent_.push_back({Sent{message.second.id, false}, lost, tag});
      return true;
    });
  }
  absl::Status TakePromise() {
    const auto [ballot, round] = promises_.front();
    promises_.pop_front();
    RETURN_IF_ERROR(cluster_.agreement_->OnPromise(rank_, ballot, round));
    cluster_.SendDecrees();
    return absl::OkStatus();
  }

  absl::Status TakeMessage(Rank from, Tag tag) {
    const std::pair name(from, tag);
    const Message arrived = arriving_.extract(name).mapped();
    Copy(arrived.slice, posts_.extract(name).mapped().slice);
    withdrawn_.erase(name);
    Node& sender = *cluster_.nodes_[from];
    if (arrived.offered) sender.bytes_sent_ += arrived.slice.bytes();
    sender.sent_.push_back({Left{arrived.id}, rank_, tag});
    sender.sent_.push_back({Sent{arrived.id}, rank_, tag});
    Say(absl::StrCat("receives ", Name(tag), " from ", from));
    const Received received{
        .from = from, .tag = tag, .bytes = arrived.slice.bytes(), .note = arrived.note};
    if (saver_) saver_->OnReceived(received);
    return Deliver(received);
  }
  absl::Status TakeOffer(Rank from, Tag tag) {
    Message& offer = arriving_.at(std::pair(from, tag));
    offer.announced = true;
    Say(absl::StrCat("is offered ", Name(tag), " by ", from));
    return Deliver(
        Offered{.from = from, .tag = tag, .bytes = offer.slice.bytes(), .note = offer.note});
  }
  absl::Status TakeLoss(Rank from, Tag tag) {
    posts_.erase(std::pair(from, tag));
    withdrawn_.erase(std::pair(from, tag));
    Say(absl::StrCat("has ", Name(tag), " for ", from, " back"));
    return Deliver(Lost{from, tag});
  }

  void SaveState(Round completed, Vec model) {
    saver_ = std::make_unique<StateSaver>(completed, model, [this](Vec vector) {
      const SharedVector copy = NewSharedVector(vectors_.size(vector));
      std::ranges::copy(Numbers(vector), copy.data.get());
      return copy;
    });
    const absl::Status visited = algorithm_->VisitState(*saver_, *this);
    CHECK(visited.ok()) << visited;
  }

  void ShowReplica(const View& view) {
    class Finder final : public StateVisitor {
     public:
      void Vector(std::string_view name, Vec vector) override {
        if (name == "replica") replica = vector;
      }
      void Number(std::string_view, double*) override {}
      void Weight(std::string_view, double*) override {}
      void Rounds(std::string_view, int64_t*) override {}
      void Message(std::string_view, const StateMessage&) override {}
      Vec replica;
    };
    Finder found;
    CHECK(algorithm_->VisitState(found, *this).ok());
    cluster_.options_.at_view(rank_, view, Numbers(found.replica));
  }

  void ReportSteps() {
    if (!cluster_.budget_ || rank_ >= cluster_.workers_) return;
    const absl::StatusOr<bool> moved = cluster_.budget_->OnSteps(rank_, completed_);
    CHECK(moved.ok()) << "rank " << rank_ << ' ' << moved.status().message();
    limit_due_ = limit_due_ || *moved;
  }

  // None where there is no vector.
  std::span<const float> Numbers(Vec vector) const {
    return vector ? vectors_.At(vector).span() : std::span<float>();
  }

  absl::Status TakeSent() {
    const Outcome outcome = sent_.front();
    sent_.pop_front();
    if (const auto* sent = std::get_if<Sent>(&outcome.event)) {
      --not_received_;
      if (!sent->delivered)
        Say(absl::StrCat(
            "hears that ", outcome.to,
            left_out_.contains(outcome.to) ? " is lost, and has not got " : " declined ",
            Name(outcome.tag)));
    }
    return Deliver(outcome.event);
  }

  // Nothing of a gradient is there before its event.
  absl::Status TakeGradient() {
    const GradientReady ready = gradients_.front();
    gradients_.pop_front();
    Say(absl::StrCat("has its gradient of round ", ready.round,
                     ready.whole() ? "" : absl::StrCat(" from ", ready.from, " on")));
    std::copy(gradient_.begin() + ready.from, gradient_.begin() + gradient_from_,
              gradient_into_.data.get() + ready.from);
    gradient_from_ = ready.from;
    if (ready.whole()) gradient_into_ = {};
    return Deliver(ready);
  }

  void Say(const std::string& what) {
    if (cluster_.options_.transcript) {
      cluster_.options_.transcript(rank_, what);
    }
  }

  const Rank rank_;
  Cluster& cluster_;
  std::unique_ptr<Algorithm> algorithm_;
  VectorTable vectors_;
  std::map<std::pair<Rank, Tag>, Message> arriving_;
  std::map<std::pair<Rank, Tag>, Posted> posts_;
  std::set<std::pair<Rank, Tag>> withdrawn_;  // of the posts: these may be lost
  std::deque<GradientReady> gradients_;
  std::deque<Outcome> sent_;           // of its messages
  std::map<uint32_t, int64_t> steps_;  // by state
  std::vector<float> gradient_;        // under way
  SharedVector gradient_into_;
  int64_t gradient_from_ = 0;  // is there from here on
  Round limit_ = -1;           // as it knows; nothing yet: -1
  bool limit_due_ = false;     // it has moved since
  bool resting_ = false;
  Vec model_;
  SendId last_send_;
  int not_received_ = 0;  // of its messages, and not declined, as far as it knows
  int64_t bytes_sent_ = 0;
  Staleness staleness_;
  Round completed_ = 0;
  std::unique_ptr<StateSaver> saver_;
  uint32_t came_in_ = 0;  // with this view, whose admission sends it its model
  bool dead_ = false;
  bool detection_due_ = false;         // of its death
  std::vector<Member> members_;        // of the last view that it knows of
  std::map<Rank, uint32_t> left_out_;  // by the views that it knows, and the last of them
  std::deque<ViewAgreement::Decree> decrees_;
  std::deque<std::pair<uint32_t, Round>> promises_;  // ballots, and the last rounds begun
};

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), order_(options_.order_seed, Purpose::kShuffle) {
  layout_.AddParameter("x", {options_.parameters});
  if (options_.buffers > 0) layout_.AddBuffer("b", {options_.buffers});
  optimizer_ = *MakeOptimizer(options_.optimizer,
                              OptimizerOptions{.momentum = options_.momentum, .weight_decay = 0});
  auto topology = MakeTopology(options_.topology, options_.nodes, options_.seed);
  CHECK(topology.ok()) << topology.status();
  auto mixing = MakeMixing(options_.mixing, *topology);
  CHECK(mixing.ok()) << mixing.status();
  const auto workers = WorkerCount(options_.algorithm, options_.nodes);
  CHECK(workers.ok()) << workers.status();
  workers_ = *workers;
  rounds_ = options_.rounds && HasRounds(options_.algorithm);
  if (options_.resilient) {
    agreement_ = std::make_unique<ViewAgreement>(FirstView(options_.nodes), limit_);
    mixings_ = std::make_unique<ViewMixing>(
        LivingMixingRequest{.whole = *mixing,
                            .topology = options_.topology,
                            .mixing = options_.mixing,
                            .seed = options_.seed,
                            .usable = UsableWeights(options_.algorithm)});
  }
  if (!HasRounds(options_.algorithm)) {
    std::vector<Round> done;
    for (const NodeState& state : options_.resume) done.push_back(state.round);
    budget_ =
        std::make_unique<GradientBudget>(workers_, StepsBetweenExchanges(options_.algorithm), done);
  }
  mixing_ = *mixing;
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    nodes_.push_back(std::make_unique<Node>(rank, *this));
    nodes_.back()->Adopt(options_.resilient ? MakeResilient(rank) : MakeNode(OptionsOf(rank)));
  }
}

AlgorithmOptions Cluster::OptionsOf(Rank rank) const {
  return {.rank = rank,
          .mixing = mixing_,
          .learning_rate = [lr = options_.learning_rate](Round) { return lr; },
          .window = options_.window,
          .length = options_.length,
          .workers = workers_,
          .seed = options_.seed};
}

Cluster::~Cluster() = default;

std::unique_ptr<Algorithm> Cluster::MakeNode(const AlgorithmOptions& options) const {
  if (options_.make_algorithm) return options_.make_algorithm(options);
  auto algorithm = MakeAlgorithm(options_.algorithm, options);
  CHECK(algorithm.ok()) << algorithm.status();
  return *std::move(algorithm);
}

std::unique_ptr<Algorithm> Cluster::MakeResilient(Rank member) {
  const AlgorithmOptions options = OptionsOf(member);
  const auto instance = [this, options](const View& view,
                                        Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
    AlgorithmOptions node = options;
    ASSIGN_OR_RETURN(const LivingMixing living, mixings_->Of(view));
    node.rank = rank;
    node.mixing = living.mixing;
    if (options_.make_algorithm) return options_.make_algorithm(node);
    return MakeAlgorithm(options_.algorithm, std::move(node));
  };
  auto made = ResilientAlgorithm::Make({.self = options.rank,
                                        .first = FirstView(options_.nodes),
                                        .window = options.window,
                                        .make = instance});
  CHECK(made.ok()) << made.status();
  return *std::move(made);
}

absl::Status Cluster::Begin(Round limit) {
  const bool first = !std::exchange(started_, true);
  const bool moved = limit > std::exchange(limit_, std::max(limit, limit_));
  if (!first && !moved) return absl::OkStatus();
  if (budget_) budget_->Extend(limit_ * workers_);
  if (agreement_) agreement_->Extend(StepLimit());
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    RETURN_IF_ERROR(nodes_[rank]->HearLimit());
    if (!first) continue;
    RETURN_IF_ERROR(nodes_[rank]->Begin());
  }
  return absl::OkStatus();
}

Round Cluster::LimitOf(Rank rank) const {
  if (!budget_) return limit_;
  return rank < workers_ ? budget_->limit(rank) : budget_->total();
}

void Cluster::LeaveBudget(Rank rank) {
  if (!budget_ || rank >= workers_) return;
  for (const Rank moved : budget_->Leave(rank)) nodes_[moved]->OnLimitMoved();
}

absl::Status Cluster::Run(Round limit) {
  absl::Status status = Begin(limit);
  for (std::vector<Choice> all = Choices(); status.ok() && !all.empty(); all = Choices()) {
    status = Take(all[order_.Below(all.size())]);
  }
  RETURN_IF_ERROR(status);
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    if (nodes_[rank]->dead() || nodes_[rank]->resting()) continue;
    std::string waits;
    for (const Waiting& waiting : nodes_[rank]->algorithm().waiting_for()) {
      absl::StrAppend(&waits, " ", Name(waiting.tag), " with rank ", waiting.peer);
    }
    return absl::DeadlineExceededError(absl::StrCat("rank ", rank, " is stuck in round ",
                                                    nodes_[rank]->algorithm().round(),
                                                    ", waiting for", waits));
  }
  return absl::OkStatus();
}

std::vector<Cluster::Choice> Cluster::Choices() const {
  std::vector<Choice> choices;
  for (const auto& node : nodes_) node->Choices(&choices);
  return choices;
}

absl::Status Cluster::Take(const Choice& choice) {
  const bool comes_in = !has_model(choice.node);
  const absl::Status taken = nodes_[choice.node]->Take(choice);
  if (!comes_in || FailureOf(taken) != Failure::kPeerLost) return taken;
  Kill(choice.node);
  return absl::OkStatus();
}
void Cluster::Lose(const Choice& message) { nodes_[message.node]->Lose(message); }
void Cluster::Kill(Rank rank) { nodes_[rank]->Kill(); }
bool Cluster::alive(Rank rank) const { return !nodes_[rank]->dead(); }
bool Cluster::has_model(Rank rank) const { return nodes_[rank]->has_model(); }
bool Cluster::came_in(Rank rank) const { return nodes_[rank]->came_in(); }

void Cluster::Join(Rank rank) {
  CHECK(!alive(rank)) << rank;
  nodes_[rank]->NoticeDeath();
  agreement_->Admit(rank);
  SendDecrees();
}

void Cluster::Renew(Round checkpoint) {
  agreement_->Renew(checkpoint);
  SendDecrees();
}

void Cluster::SendDecrees() {
  while (const std::optional<ViewAgreement::Decree> decree = agreement_->Take()) {
    const auto* view = std::get_if<View>(&*decree);
    if (view != nullptr) views_.push_back(*view);
    for (const Member member : agreement_->living()) {
      if (view != nullptr && view->IsNewcomer(member)) continue;
      nodes_[member]->Tell(*decree);
    }
    if (view == nullptr) continue;
    for (const Member newcomer : view->newcomers) {
      nodes_[newcomer] = std::make_unique<Node>(newcomer, *this);
      nodes_[newcomer]->Adopt(MakeResilient(newcomer));
      const absl::Status begun = nodes_[newcomer]->Join(views_.back());
      CHECK(begun.ok()) << begun;
    }
  }
}

std::vector<NodeState> Cluster::saved() const {
  std::vector<NodeState> states;
  for (const auto& node : nodes_) states.push_back(node->saved());
  return states;
}

const NodeState& Cluster::saved(Rank rank) const { return nodes_[rank]->saved(); }

bool Cluster::resting(Rank rank) const { return nodes_[rank]->resting(); }
const Algorithm& Cluster::algorithm(Rank rank) const { return nodes_[rank]->algorithm(); }

std::span<const float> Cluster::replica(Rank rank) const { return nodes_[rank]->model(); }

std::vector<double> Cluster::Mean() const {
  std::vector<double> mean(layout_.size);
  for (Rank rank = 0; rank < workers_; ++rank) {
    for (int64_t i = 0; i < layout_.size; ++i) mean[i] += replica(rank)[i] / workers_;
  }
  return mean;
}

double Cluster::ConsensusDistance() const {
  const std::vector<double> mean = Mean();
  double sum = 0;
  for (Rank rank = 0; rank < workers_; ++rank) {
    for (int64_t i = 0; i < layout_.size; ++i) {
      const double difference = replica(rank)[i] - mean[i];
      sum += difference * difference;
    }
  }
  return sum / workers_;
}

Round Cluster::largest_lead() const { return largest_lead_; }
size_t Cluster::live_vectors(Rank rank) const { return nodes_[rank]->vectors().live(); }
int64_t Cluster::vector_bytes(Rank rank) const { return nodes_[rank]->vectors().bytes(); }
int64_t Cluster::bytes_sent(Rank rank) const { return nodes_[rank]->bytes_sent(); }
const Staleness& Cluster::staleness(Rank rank) const { return nodes_[rank]->staleness(); }

}  // namespace grapevine::testing
