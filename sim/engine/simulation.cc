#include "sim/engine/simulation.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "base/status.h"
#include "kernels/vector/vector_passes.h"
#include "random/keyed_random.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {
namespace {

absl::Status At(Rank rank, Round round, const absl::Status& status) {
  return WithFailure(absl::Status(status.code(), absl::StrCat("rank ", rank, ", round ", round,
                                                              ": ", status.message())),
                     FailureOf(status));
}

// The version of a kGradient event says which part of a gradient is ready (the low bits), and in
// which life of its node.
constexpr int kPartBits = 16;
constexpr uint32_t LifeBits(uint32_t life) { return life & 0xfff; }

}  // namespace

Simulation::Simulation(const SimulationOptions& options, SimulationParts parts)
    : StoreHost(parts.vectors),
      options_(options),
      parts_(std::move(parts)),
      nodes_(options.nodes),
      living_(options.nodes) {
  network_ = parts_.make_network(this);
  exchange_ = std::make_unique<MessageExchange>(options.nodes, network_.get(), parts_.effects,
                                                parts_.vectors, &queue_);
  if (options_.sharing > 0) {
    std::vector<Round> done = options_.done;
    if (done.empty()) done.assign(options_.sharing, options_.begin);
    budget_.emplace(options_.sharing, options_.window, done);
    passed_ = options_.begin;
    for (Node& node : nodes_) node.cut = options_.begin;
  }
  now_ = options.begin_time;
}

Simulation::~Simulation() = default;

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Make(const SimulationOptions& options,
                                                             SimulationParts parts) {
  std::unique_ptr<Simulation> simulation(new Simulation(options, std::move(parts)));
  for (Rank rank = 0; rank < options.nodes; ++rank) {
    ASSIGN_OR_RETURN(simulation->nodes_[rank].algorithm, simulation->parts_.make_algorithm(rank));
  }
  return simulation;
}

absl::Status Simulation::Run(Round limit) {
  const bool first = limit_ == 0;
  ExtendLimit(limit);
  RETURN_IF_ERROR(ApplyLimit());
  if (first) {
    RETURN_IF_ERROR(StartNodes());
  }
  RETURN_IF_ERROR(EndMoment());
  while (!Over()) {
    // Checked at every moment: between two boundaries, a long message may bring as many moments as
    // it has segments.
    if (parts_.interrupted != nullptr && *parts_.interrupted)
      return InterruptedError("interrupted");
    now_ = queue_.next_time();
    // All events of one moment are handled before bandwidth is shared anew.
    while (queue_.more_now()) {
      ++events_;
      RETURN_IF_ERROR(Handle(queue_.Pop().payload));
      if (stopped_) return absl::OkStatus();
    }
    RETURN_IF_ERROR(EndMoment());
    if (stopped_) return absl::OkStatus();
  }
  return CheckAllRest();
}

bool Simulation::Over() {
  // Only events that a fault holds up for ever are left. Either they concern dead nodes, or living
  // nodes wait for them in vain.
  if (queue_.empty() || queue_.next_time() >= kFar) return true;
  return resting_ >= living_ && queue_.size() == wakes_;
}

absl::Status Simulation::EndMoment() {
  Settle();
  if (rest_cuts_due_) {
    RETURN_IF_ERROR(TakeCutsAtRest());
    if (stopped_) return absl::OkStatus();
  }
  if (wanted_limit_ == limit_ && moved_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(ApplyLimit());
  Settle();
  return absl::OkStatus();
}

void Simulation::Settle() {
  do {
    network_->Settle(now_);
  } while (exchange_->OnSettled(now_));
}

absl::Status Simulation::ApplyLimit() {
  const bool moved = wanted_limit_ > std::exchange(limit_, wanted_limit_);
  if (membership_) membership_->Extend(StepLimit());
  if (budget_ && moved) {
    const std::vector<Rank> workers = budget_->Extend(limit_ * budget_->workers());
    moved_.insert(moved_.end(), workers.begin(), workers.end());
  }
  for (Rank rank = budget_ ? budget_->workers() : 0; moved && rank < options_.nodes; ++rank) {
    moved_.push_back(rank);
  }
  for (const Rank rank : std::exchange(moved_, {})) {
    if (LimitOf(rank) == std::exchange(nodes_[rank].limit, LimitOf(rank))) continue;
    RETURN_IF_ERROR(Deliver(rank, RoundLimit{LimitOf(rank)}));
  }
  return absl::OkStatus();
}

Round Simulation::StepLimit() const { return budget_ ? limit_ * budget_->workers() : limit_; }

Round Simulation::LimitOf(Rank rank) const {
  if (!budget_) return limit_;
  return rank < budget_->workers() ? budget_->limit(rank) : budget_->total();
}

absl::Status Simulation::StartNodes() {
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    if (parts_.resume) {
      RETURN_IF_ERROR(ResumeNode(rank));
      continue;
    }
    Node& node = nodes_[rank];
    node.busy_until = std::max(node.busy_until, now_ + StartDelay(rank));
    RETURN_IF_ERROR(Deliver(rank, Start{.round = options_.begin}));
  }
  return absl::OkStatus();
}

Nanoseconds Simulation::StartDelay(Rank rank) const {
  if (options_.start_spread == 0) return 0;
  KeyedRandom random(options_.seed, Purpose::kStart, static_cast<uint64_t>(rank));
  return static_cast<Nanoseconds>(random.Below(static_cast<uint64_t>(options_.start_spread)));
}

absl::Status Simulation::ResumeNode(Rank rank) {
  ASSIGN_OR_RETURN(const NodeState saved, parts_.resume(rank));
  StateRestorer state(&saved, {.size = [this](Vec vector) { return store().At(vector).size; },
                               .fill =
                                   [this](Vec vector, std::span<const float> elements) {
                                     std::ranges::copy(elements, store().At(vector).data.get());
                                   }});
  // The node's lane is free, so the event is handled at once.
  RETURN_IF_ERROR(Deliver(rank, Start{.round = saved.round, .state = &state}));
  const absl::Status restored = state.Finish();
  return restored.ok() ? restored
                       : InputError(absl::StrCat("the saved state of rank ", rank, " ",
                                                 std::string(restored.message())));
}

absl::Status Simulation::Handle(const SimEvent& event) {
  switch (event.kind) {
    case SimEventKind::kGradient:
      return OnGradientPart(static_cast<Rank>(event.index), event.version);
    case SimEventKind::kResume:
      return Resume(static_cast<Rank>(event.index));
    case SimEventKind::kDepart:
      exchange_->OnDepart(event.index, now_);
      return absl::OkStatus();
    case SimEventKind::kAlarm:
      return OnAlarm(event);
    case SimEventKind::kArrival:
      return OnArrival(event.index);
    case SimEventKind::kNotice:
      return OnNotice(event.index);
    case SimEventKind::kReceipt:
      return OnReceipt(event.index);
    case SimEventKind::kCredits:
      exchange_->OnCredits(static_cast<Rank>(event.index), now_);
      return absl::OkStatus();
    case SimEventKind::kDeath:
      return Kill(deaths_[event.index].rank, deaths_[event.index].detection);
    case SimEventKind::kReturn:
      return Return(static_cast<Rank>(event.index));
    case SimEventKind::kMembership:
      return OnMembership(event.index);
    case SimEventKind::kWake:
      return OnWake();
  }
  return absl::OkStatus();
}

absl::Status Simulation::OnGradientPart(Rank rank, uint32_t version) {
  Node& node = nodes_[rank];
  if (node.dead || version >> kPartBits != LifeBits(node.life)) return absl::OkStatus();
  const uint32_t part = version & ((uint32_t{1} << kPartBits) - 1);
  if (!node.gradient_loss) {
    const absl::StatusOr<double> loss = store().EndGradient(rank);
    if (!loss.ok()) return At(rank, node.gradient_round, loss.status());
    node.gradient_loss = *loss;
  }
  if (part == 0) return OnGradient(rank);
  return Deliver(rank, GradientReady{node.gradient_round, node.gradient_cuts[part - 1]});
}

absl::Status Simulation::OnGradient(Rank rank) {
  Node& node = nodes_[rank];
  const double loss = *std::exchange(node.gradient_loss, std::nullopt);
  if (parts_.observer != nullptr) {
    parts_.observer->OnGradient({.rank = rank,
                                 .round = node.gradient_round,
                                 .loss = loss,
                                 .begin = node.gradient_begin,
                                 .end = node.gradient_end,
                                 .noise = store().Noise(rank),
                                 .norms = store().Norms(rank)});
  }
  return Deliver(rank, GradientReady{std::exchange(node.gradient_round, -1)});
}

absl::Status Simulation::OnAlarm(const SimEvent& event) {
  const MessageTimes* const left = exchange_->OnAlarm(event.index, event.version, now_);
  if (left == nullptr) return absl::OkStatus();
  return Deliver(left->from, Left{left->id});
}

absl::Status Simulation::OnNotice(uint32_t index) {
  const std::optional<MessageExchange::News> news = exchange_->OnNotice(index, now_);
  return news.has_value() ? Deliver(news->at, news->event) : absl::OkStatus();
}

absl::Status Simulation::OnReceipt(MessageId id) {
  const std::optional<MessageTimes> message = exchange_->OnReceipt(id);
  return message ? Deliver(message->from, Sent{message->id}) : absl::OkStatus();
}

absl::Status Simulation::OnArrival(MessageId id) {
  const MessageTimes* const arrived = exchange_->OnArrival(id, now_);
  if (arrived == nullptr) return absl::OkStatus();
  const MessageTimes message = *arrived;
  if (parts_.observer != nullptr) parts_.observer->OnMessage(message);
  const absl::Status numbers = CheckNumbers(message.from, message.tag, message.round,
                                            exchange_->squared_norm(id), options_.max_norm);
  if (!numbers.ok()) return At(message.to, nodes_[message.to].algorithm->round(), numbers);
  return Deliver(
      message.to,
      Received{
          .from = message.from, .tag = message.tag, .bytes = message.bytes, .note = message.note});
}

absl::Status Simulation::Deliver(Rank rank, const Event& event) {
  Node& node = nodes_[rank];
  if (node.dead) return absl::OkStatus();
  const bool waiting = node.mailbox != nullptr && !node.mailbox->events.empty();
  if (node.busy_until <= now_ && !waiting) return Dispatch(rank, event);
  if (node.mailbox == nullptr) node.mailbox = std::make_unique<Mailbox>();
  node.mailbox->events.push_back(event);
  if (!waiting) {
    queue_.Push(node.busy_until, SimEvent{.kind = SimEventKind::kResume,
                                          .version = 0,
                                          .index = static_cast<uint32_t>(rank)});
  }
  return absl::OkStatus();
}

absl::Status Simulation::Resume(Rank rank) {
  Node& node = nodes_[rank];
  // The event may be from an earlier life.
  if (node.dead || node.mailbox == nullptr) return absl::OkStatus();
  Mailbox& mailbox = *node.mailbox;
  while (node.busy_until <= now_ && mailbox.next < mailbox.events.size()) {
    const Event event = mailbox.events[mailbox.next++];
    RETURN_IF_ERROR(Dispatch(rank, event));
    if (node.dead) return absl::OkStatus();
  }
  if (mailbox.next < mailbox.events.size()) {
    queue_.Push(node.busy_until, SimEvent{.kind = SimEventKind::kResume,
                                          .version = 0,
                                          .index = static_cast<uint32_t>(rank)});
    return absl::OkStatus();
  }
  mailbox.events.clear();
  mailbox.next = 0;
  return absl::OkStatus();
}

absl::Status Simulation::Dispatch(Rank rank, const Event& event) {
  Node& node = nodes_[rank];
  current_ = rank;
  cursor_ = now_;
  if (std::exchange(node.rested, -1) >= 0) --resting_;
  if (const auto* received = std::get_if<Received>(&event)) {
    Spend(options_.message_overhead);
    if (parts_.observer != nullptr) parts_.observer->OnReceived(rank, *received);
  }
  const auto* lost = std::get_if<Lost>(&event);
  if (lost != nullptr && parts_.observer != nullptr) parts_.observer->OnLost(rank, *lost);
  const absl::Status status = node.algorithm->On(event, *this);
  node.busy_until = cursor_;
  if (const auto* changed = std::get_if<ViewChanged>(&event)) LeaveOut(*changed->view);
  // An observer's error ends the run, even if a peer is lost.
  if (const absl::Status said = TakeStatus(); !said.ok()) {
    return At(rank, node.algorithm->round(), said);
  }
  if (status.ok()) return status;
  // The node cannot go on without a lost peer, but the others can go on without the node.
  if (membership_ && FailureOf(status) == Failure::kPeerLost) return Kill(rank, 0);
  return At(rank, node.algorithm->round(), status);
}

Membership& Simulation::membership() {
  if (!membership_) {
    membership_ =
        std::make_unique<Membership>(Membership::Options{.nodes = options_.nodes,
                                                         .limit = std::max<Round>(StepLimit(), 1),
                                                         .least = options_.least,
                                                         .patience = options_.patience},
                                     network_.get(), &queue_);
  }
  return *membership_;
}

void Simulation::ReturnAt(Rank rank, Nanoseconds when) {
  membership();
  queue_.Push(
      std::max(when, now_),
      SimEvent{.kind = SimEventKind::kReturn, .version = 0, .index = static_cast<uint32_t>(rank)});
}

absl::Status Simulation::Return(Rank rank) {
  if (nodes_[rank].dead) membership_->Admit(rank, now_);
  return absl::OkStatus();
}

absl::Status Simulation::ComeIn(Rank rank, const Start& start) {
  Node& node = nodes_[rank];
  node = {.life = node.life + 1, .heard = start.joins};
  ++living_;
  ASSIGN_OR_RETURN(node.algorithm, parts_.make_algorithm(rank));
  if (parts_.observer != nullptr) {
    RETURN_IF_ERROR(parts_.observer->OnReturn(rank, start.round, now_));
  }
  RETURN_IF_ERROR(Deliver(rank, start));
  node.limit = LimitOf(rank);
  return Deliver(rank, RoundLimit{node.limit});
}

void Simulation::BeginView(const View& view, Vec model) {
  if (view.checkpoint > 0 && parts_.observer != nullptr) {
    Fail(parts_.observer->OnCheckpoint({.rank = current_,
                                        .round = view.checkpoint,
                                        .completed = nodes_[current_].algorithm->round(),
                                        .now = cursor_},
                                       model));
  }
  std::map<Member, uint32_t>& left_out = nodes_[current_].left_out;
  for (const Member newcomer : view.newcomers) {
    const auto last = left_out.find(newcomer);
    if (last != left_out.end() && last->second > view.epoch) continue;
    left_out.erase(newcomer);
    exchange_->TakeIn(current_, newcomer);
  }
}

void Simulation::WakeAt(Nanoseconds when) {
  ++wakes_;
  queue_.Push(std::max(when, now_),
              SimEvent{.kind = SimEventKind::kWake, .version = 0, .index = 0});
}

absl::Status Simulation::OnWake() {
  --wakes_;
  return parts_.observer->OnWake(now_);
}

void Simulation::KillAt(Rank rank, Nanoseconds when, Nanoseconds detection) {
  membership();
  queue_.Push(std::max(when, now_), SimEvent{.kind = SimEventKind::kDeath,
                                             .version = 0,
                                             .index = static_cast<uint32_t>(deaths_.size())});
  deaths_.push_back({rank, detection});
}

absl::Status Simulation::Kill(Rank rank, Nanoseconds detection) {
  Node& node = nodes_[rank];
  if (std::exchange(node.dead, true)) return absl::OkStatus();
  if (node.rested >= 0) --resting_;
  --living_;
  node.mailbox.reset();
  exchange_->Kill(rank);
  if (parts_.observer != nullptr) RETURN_IF_ERROR(parts_.observer->OnDeath(rank, now_));
  membership_->Lose(rank, now_ + detection);
  if (budget_) LeaveBudget(rank);
  return absl::OkStatus();
}

void Simulation::LeaveBudget(Rank rank) {
  if (rank >= budget_->workers()) return;
  const std::vector<Rank> moved = budget_->Leave(rank);
  moved_.insert(moved_.end(), moved.begin(), moved.end());
  PassRounds();
}

absl::Status Simulation::OnMembership(uint32_t news) {
  ASSIGN_OR_RETURN(const std::optional<Membership::Delivery> delivery,
                   membership_->OnNews(news, now_));
  // Other nodes may send to newcomers before these hear that they have joined.
  for (const Member newcomer : membership_->TakeNewcomers()) exchange_->Revive(newcomer);
  if (!delivery) return absl::OkStatus();
  if (const auto* start = std::get_if<Start>(&delivery->event)) {
    return ComeIn(delivery->to, *start);
  }
  return Deliver(delivery->to, delivery->event);
}

void Simulation::LeaveOut(const View& view) {
  Node& node = nodes_[current_];
  const View* const before = std::exchange(node.heard, &view);
  const auto members = before != nullptr ? before->members : FirstView(options_.nodes).members;
  for (const Member member : members) {
    if (view.RankOf(member)) continue;
    node.left_out[member] = view.epoch;
    exchange_->LeaveOut(current_, member, now_);
  }
}

absl::Status Simulation::CheckAllRest() const {
  if (resting_ == living_) return absl::OkStatus();
  if (membership_) RETURN_IF_ERROR(membership_->CheckNobodyWaits());
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    const Node& node = nodes_[rank];
    if (node.dead || node.rested >= 0) continue;
    std::string text = absl::StrCat("rank ", rank, " is stuck in round ", node.algorithm->round(),
                                    " after ", now_, " ns; it waits for");
    for (const Waiting& waiting : node.algorithm->waiting_for()) {
      absl::StrAppend(&text, " rank ", waiting.peer, " (", Describe(waiting.tag), ")");
    }
    return absl::InternalError(text);
  }
  return absl::OkStatus();
}

int64_t Simulation::bytes_sent() const {
  int64_t sum = 0;
  for (Rank rank = 0; rank < options_.nodes; ++rank) sum += bytes_sent(rank);
  return sum;
}

void Simulation::Spend(Nanoseconds time) {
  if (time == 0) return;
  if (parts_.observer != nullptr) {
    parts_.observer->OnArithmetic(current_, cursor_, cursor_ + time);
  }
  cursor_ += time;
}

void Simulation::SpendTraffic(int64_t bytes) {
  Spend(std::llround(static_cast<double>(bytes) / options_.memory_bandwidth));
}

void Simulation::Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  Node& node = nodes_[current_];
  CHECK_EQ(node.gradient_round, -1) << "rank " << current_ << " asked for two gradients at once";
  node.gradient_round = round;
  node.gradient_cuts = cuts;
  node.gradient_begin = cursor_;
  const Nanoseconds duration = parts_.compute->GradientFrom(current_, round, cursor_);
  node.gradient_end = cursor_ + duration;
  store().BeginGradient(current_, at, into, round);
  for (size_t i = 0; i < cuts.size(); ++i) {
    const double share = store().ReadyAt(cuts[i], round);
    PushGradientPart(cursor_ + std::llround(share * static_cast<double>(duration)), i + 1);
  }
  PushGradientPart(node.gradient_end, 0);
}

void Simulation::PushGradientPart(Nanoseconds when, size_t part) {
  queue_.Push(when, SimEvent{.kind = SimEventKind::kGradient,
                             .version = LifeBits(nodes_[current_].life) << kPartBits |
                                        static_cast<uint32_t>(part),
                             .index = static_cast<uint32_t>(current_)});
}

void Simulation::Combine(Part out, std::span<const Term> terms) {
  store().Combine(out, terms);
  SpendTraffic(CombineTraffic(terms.size(), out.size));
}

void Simulation::Clip(Part part, double limit) {
  store().Clip(part, limit);
  SpendTraffic(ClipTraffic(part.size));
}

void Simulation::Step(const StepRequest& request) {
  store().Step(request);
  SpendTraffic(StepTraffic(request.mix.size(), store().step_vectors(), request.range.size));
}

SendId Simulation::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  Spend(options_.message_overhead);
  return exchange_->Send(current_, to, tag, payload, note, false, cursor_, now_);
}

void Simulation::Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) {
  const bool answers = exchange_->Post(
      current_, {.from = from, .tag = tag, .into = into, .round = round, .when = cursor_}, credit,
      now_);
  Node& node = nodes_[current_];
  if (!answers || node.mailbox == nullptr) return;
  // The node need not hear of an offer for which it has posted before reading the offer.
  std::vector<Event>& events = node.mailbox->events;
  const auto unread = events.begin() + static_cast<std::ptrdiff_t>(node.mailbox->next);
  events.erase(std::remove_if(unread, events.end(),
                              [&](const Event& event) {
                                const auto* offer = std::get_if<Offered>(&event);
                                return offer != nullptr && offer->from == from && offer->tag == tag;
                              }),
               events.end());
}

SendId Simulation::Offer(Rank to, Tag tag, const Payload& payload, const Note& note) {
  Spend(options_.message_overhead);
  return exchange_->Send(current_, to, tag, payload, note, true, cursor_, now_);
}

void Simulation::Decline(Rank from, Tag tag) { exchange_->Decline(current_, from, tag, cursor_); }

void Simulation::Withdraw(Rank from, Tag tag) {
  exchange_->Withdraw(current_, from, tag, cursor_, now_);
}

void Simulation::GradientApplied(int64_t staleness) {
  if (staleness_.empty()) staleness_.resize(nodes_.size());
  staleness_[current_].Add(staleness);
}

void Simulation::Promise(uint32_t ballot, Round round) {
  membership_->Promise(current_, ballot, round, cursor_);
}

void Simulation::Boundary(Round completed, Vec model) {
  nodes_[current_].ended = cursor_;
  if (budget_) CountSteps(completed);
  if (parts_.observer == nullptr) return;
  Fail(parts_.observer->OnBoundary(current_, completed, cursor_, model));
  if (budget_) return TakeCuts(current_, cursor_, model);
  Fail(parts_.observer->OnCut(
      {.rank = current_, .round = completed, .completed = completed, .now = cursor_}, model));
}

void Simulation::CountSteps(Round completed) {
  if (current_ >= budget_->workers()) return;
  const absl::StatusOr<bool> moved = budget_->OnSteps(current_, completed);
  Fail(moved.status());
  if (moved.ok() && *moved) moved_.push_back(current_);
  PassRounds();
}

void Simulation::PassRounds() {
  // Steps that nodes had done at the beginning may go beyond the limit that is known so far.
  Round passed = std::min(limit_, budget_->steps() / budget_->workers());
  // The measurement of the last round is the result of the run, so it waits until all nodes rest.
  if (passed == limit_ && resting_ < living_) --passed;
  if (passed <= passed_) return;
  passed_ = passed;
  rest_cuts_due_ = true;
}

void Simulation::TakeCuts(Rank rank, Nanoseconds when, Vec model) {
  Node& node = nodes_[rank];
  while (node.cut < passed_ && parts_.observer != nullptr) {
    Fail(parts_.observer->OnCut({.rank = rank,
                                 .round = ++node.cut,
                                 // At rest no message of the current round is under way, so that
                                 // round counts too.
                                 .completed = node.algorithm->round() + (node.rested >= 0 ? 1 : 0),
                                 .now = when},
                                model));
  }
}

absl::Status Simulation::TakeCutsAtRest() {
  rest_cuts_due_ = false;
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    const Node& node = nodes_[rank];
    if (node.rested >= 0 && !node.dead) TakeCuts(rank, now_, node.model);
    if (absl::Status status = TakeStatus(); !status.ok()) return At(rank, passed_, status);
  }
  return absl::OkStatus();
}

void Simulation::Rest(Vec model) {
  Node& node = nodes_[current_];
  node.model = model;
  if (node.rested < 0) ++resting_;
  node.rested = cursor_;
  if (!budget_) return;
  PassRounds();
  TakeCuts(current_, cursor_, model);
}

void Simulation::SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) {
  queue_.Push(when, SimEvent{.kind = SimEventKind::kAlarm, .version = version, .index = flow});
}

}  // namespace grapevine
