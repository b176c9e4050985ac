#include "algorithm/server/async_parameter_server.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

// Beyond this limit, a double cannot hold every number of gradients.
constexpr double kMaxGradients = 1LL << 53;

void Count(StateVisitor& state, std::string_view name, int64_t* count) {
  auto number = static_cast<double>(*count);
  state.Number(name, &number);
  *count = static_cast<int64_t>(number);
}

}  // namespace

AsyncWorker::AsyncWorker(ShardLayout shards, Rank rank, AsyncWorkerOptions options,
                         std::unique_ptr<WorkerRule> rule)
    : shards_(shards),
      rank_(rank),
      options_(options),
      rule_(std::move(rule)),
      versions_(shards.servers()) {}

absl::Status AsyncWorker::On(const Event& event, Host& host) {
  if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start, host));
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    RETURN_IF_ERROR(OnGradient(*ready, host));
  } else if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(OnReceived(*received, host));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(OnSent(*sent));
  } else {
    RETURN_IF_ERROR(CheckForeseen(event));
  }
  if (started_) Advance(host);
  return absl::OkStatus();
}

// A worker that goes on from a state asks first where servers must know of it: they do not wait for
// a worker that has not asked.
absl::Status AsyncWorker::OnStart(const Start& event, Host& host) {
  rule_->Start(host.InitialReplica(host.whole_replica()), event.round, host);
  steps_ = event.round;
  applied_ = event.round * options_.workers;
  if (event.state != nullptr) {
    RETURN_IF_ERROR(VisitState(*event.state, host));
    must_pull_ = options_.tells_limit;
  }
  started_ = true;
  return absl::OkStatus();
}

absl::Status AsyncWorker::VisitState(StateVisitor& state, Host&) {
  rule_->VisitState(state);
  Count(state, "gradients_applied", &applied_);
  for (size_t i = 0; i < versions_.size(); ++i) {
    Count(state, absl::StrCat("version.", i), &versions_[i]);
  }
  return absl::OkStatus();
}

void AsyncWorker::GiveUp(Host& host) {
  given_up_ = true;
  if (started_) Advance(host);
}

absl::Status AsyncWorker::OnGradient(const GradientReady& event, Host& host) {
  if (!gradient_ || event.round != steps_ || !event.whole()) {
    return absl::InternalError(absl::StrCat("a gradient of step ", event.round,
                                            " came without a request in step ", steps_));
  }
  if (given_up_) {
    host.Drop(std::exchange(gradient_, Vec{}));
    return absl::OkStatus();
  }
  rule_->OnGradient(std::exchange(gradient_, Vec{}), steps_, NominalRound(), host);
  ++local_;
  const bool last = steps_ + 1 >= limit_;
  if (local_ == options_.window || last) {
    BeginExchange(last && options_.tells_limit ? Ask::kLastPush : Ask::kPush, true, host);
  } else {
    EndStep(host);
  }
  return absl::OkStatus();
}

absl::Status AsyncWorker::OnReceived(const Received& event, Host& host) {
  if (!exchange_ || event.tag != AnswerTag(exchanges_ - 1) ||
      exchange_->missing.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat(Describe(event.tag), " of rank ", event.from,
                                            " came without a post in step ", steps_));
  }
  int64_t& version = versions_[shards_.IndexOf(event.from)];
  const double applied = event.note.weight;
  if (event.note.clock < version || applied < 0 || applied > kMaxGradients) {
    return absl::InternalError(absl::StrCat("rank ", event.from, " answered with version ",
                                            event.note.clock, ", of ", applied,
                                            " gradients, after version ", version));
  }
  version = event.note.clock;
  applied_ = std::max(applied_, static_cast<int64_t>(applied));
  if (exchange_->missing.empty()) EndExchange(host);
  return absl::OkStatus();
}

absl::Status AsyncWorker::OnSent(const Sent& event) {
  const auto sent = unsent_.find(event.id);
  if (sent == unsent_.end()) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported in step ", steps_,
                                            "; no such update is on its way"));
  }
  if (!event.delivered) {
    return absl::InternalError(
        absl::StrCat("rank ", sent->second.peer, " declined an update, which no server does"));
  }
  unsent_.erase(sent);
  return absl::OkStatus();
}

void AsyncWorker::Advance(Host& host) {
  if (gradient_ || exchange_) return;
  if (given_up_) {
    Leave(host);
  } else if (steps_ >= limit_) {
    if (unsent_.empty()) host.Rest(rule_->model());
  } else if (must_pull_) {
    BeginExchange(Ask::kPull, false, host);
  } else {
    gradient_ = host.New(host.replica_size(), "the gradient");
    host.Gradient(rule_->model(), gradient_, steps_);
  }
}

void AsyncWorker::Leave(Host& host) {
  if (local_ > 0) return BeginExchange(Ask::kPush, false, host);
  if (!std::exchange(left_, true)) {
    const Vec nothing = host.New(0, "a farewell");
    for (const Rank server : shards_.ServerRanks()) {
      unsent_.emplace(host.Send(server, kFarewell, Part{nothing, 0, 0}),
                      Waiting{server, kFarewell});
    }
    host.Drop(nothing);
  }
  if (unsent_.empty()) host.Rest(rule_->model());
}

// Each worker begins with another server, so that they do not all queue up at one.
void AsyncWorker::BeginExchange(Ask ask, bool ends_step, Host& host) {
  const bool pushes = ask != Ask::kPull;
  const Vec update = pushes ? rule_->Push(host) : host.New(0, "no update");
  exchange_ = {.ask = ask, .ends_step = ends_step, .answer = {}, .missing = {}};
  ++exchanges_;
  PostAnswers(host);
  for (Rank i = 0; i < shards_.servers(); ++i) {
    const Rank index = (rank_ + i) % shards_.servers();
    const Waiting message{shards_.ServerRank(index), AskTag(exchanges_ - 1, ask)};
    const Part part =
        pushes ? Slice(update, shards_.Shard(index, host.replica_size())) : Part{update, 0, 0};
    const Note note{.weight = pushes ? static_cast<double>(local_) : 1, .clock = versions_[index]};
    unsent_.emplace(host.Offer(message.peer, message.tag, part, note), message);
  }
  if (!pushes) host.Drop(update);
}

void AsyncWorker::PostAnswers(Host& host) {
  exchange_->answer = host.New(host.replica_size(), "the servers' answer");
  for (Rank index = 0; index < shards_.servers(); ++index) {
    const Rank server = shards_.ServerRank(index);
    exchange_->missing.insert(server);
    host.Post(server, AnswerTag(exchanges_ - 1),
              Slice(exchange_->answer, shards_.Shard(index, host.replica_size())), steps_);
  }
}

void AsyncWorker::EndExchange(Host& host) {
  const Exchange ended = *std::exchange(exchange_, std::nullopt);
  rule_->OnAnswer(ended.answer, host);
  local_ = 0;
  must_pull_ = ended.ask == Ask::kLastPush;
  if (ended.ends_step) EndStep(host);
}

void AsyncWorker::EndStep(Host& host) {
  ++steps_;
  host.Boundary(steps_, rule_->model());
}

Round AsyncWorker::NominalRound() const { return applied_ / options_.workers + local_; }

std::vector<Waiting> AsyncWorker::waiting_for() const {
  std::vector<Waiting> waiting;
  if (exchange_) {
    for (const Rank server : exchange_->missing) {
      waiting.push_back({server, AnswerTag(exchanges_ - 1)});
    }
  } else if (!gradient_) {
    for (const auto& [id, update] : unsent_) waiting.push_back(update);
  }
  return waiting;
}

namespace {

// The most at a time: while one travels, the next is made ready.
constexpr size_t kUpdates = 2;
constexpr size_t kAnswers = 2;

}  // namespace

AsyncServer::AsyncServer(ShardLayout shards, Rank rank, int64_t window, Rank workers,
                         StalenessGate gate, std::unique_ptr<ServerRule> rule)
    : shards_(shards),
      rank_(rank),
      window_(window),
      planned_(workers),
      gate_(std::move(gate)),
      rule_(std::move(rule)) {}

absl::Status AsyncServer::On(const Event& event, Host& host) {
  if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start, host));
  } else if (const auto* offered = std::get_if<Offered>(&event)) {
    RETURN_IF_ERROR(OnOffered(*offered, host));
  } else if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(OnReceived(*received, host));
  } else if (const auto* left = std::get_if<Left>(&event)) {
    RETURN_IF_ERROR(OnLeft(*left));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(OnSent(*sent));
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    return absl::InternalError(absl::StrCat("a gradient of step ", ready->round,
                                            " came to a parameter server, which asks for none"));
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    RETURN_IF_ERROR(OnLost(*lost, host));
  }
  if (weights_) Advance(host);
  return absl::OkStatus();
}

absl::Status AsyncServer::OnStart(const Start& event, Host& host) {
  weights_ = host.InitialReplica(Range(host));
  rule_->Start(Range(host), host);
  gradients_ = event.round * planned_;
  if (event.state == nullptr) return absl::OkStatus();
  gate_.WaitForAll();
  return VisitState(*event.state, host);
}

absl::Status AsyncServer::VisitState(StateVisitor& state, Host&) {
  state.Vector("shard", weights_);
  rule_->VisitState(state);
  Count(state, "version", &version_);
  Count(state, "gradients", &gradients_);
  return absl::OkStatus();
}

void AsyncServer::GiveUp(Host& host) {
  given_up_ = true;
  for (const Rank worker : shards_.WorkerRanks()) PostFarewell(worker, host);
  if (weights_) Advance(host);
}

void AsyncServer::PostFarewell(Rank worker, Host& host) {
  if (farewells_.contains(worker)) return;
  const Vec nothing = host.New(0, "a farewell");
  farewells_.emplace(worker, nothing);
  host.Post(worker, kFarewell, Part{nothing, 0, 0}, version_);
}

bool AsyncServer::EndFarewell(Rank worker, const Tag& tag, Host& host) {
  const auto farewell = farewells_.find(worker);
  if (tag != kFarewell || farewell == farewells_.end() || !farewell->second) return false;
  host.Drop(std::exchange(farewell->second, Vec{}));
  gate_.Leave(worker);
  return true;
}

bool AsyncServer::HasLeft(Rank worker) const {
  const auto farewell = farewells_.find(worker);
  return farewell != farewells_.end() && !farewell->second;
}

absl::Status AsyncServer::CheckAsk(const Offered& event, Ask ask, const Host& host) const {
  const auto refusal = [&](const auto&... why) {
    return absl::InternalError(
        absl::StrCat("rank ", event.from, " offered ", Describe(event.tag), why...));
  };
  if (shards_.IsServer(event.from)) return refusal(", but is no worker");
  if (HasLeft(event.from)) return refusal(" after its farewell");
  if (open_.contains(event.from)) return refusal(" before it was answered");
  // The answer to an earlier exchange may still wait for the worker's post.
  const auto last = last_.find(event.from);
  if (last != last_.end() && event.tag.index <= last->second) {
    return refusal(", which is not after exchange ", last->second);
  }
  if (!Asks(event.tag) || !gate_.Allows(event.from, ask)) {
    return refusal(", which it may not ask now");
  }
  const int64_t bytes = ask == Ask::kPull ? 0 : BytesOf(Part{{}, 0, Range(host).size});
  if (event.bytes != bytes) {
    return refusal(": ", event.bytes, " bytes instead of ", bytes);
  }
  const double gradients = event.note.weight;
  if (gradients < 1 || gradients > static_cast<double>(window_) ||
      gradients != std::floor(gradients)) {
    return refusal(": an update of ", gradients, " gradients, where ", window_, " are the most");
  }
  if (event.note.clock < 0 || event.note.clock > version_) {
    return refusal(": made at version ", event.note.clock, ", where the last one is ", version_);
  }
  return absl::OkStatus();
}

absl::Status AsyncServer::OnOffered(const Offered& event, Host& host) {
  const bool leaves = event.tag == kFarewell && event.bytes == 0;
  if (leaves && !shards_.IsServer(event.from) && !farewells_.contains(event.from)) {
    PostFarewell(event.from, host);
    return absl::OkStatus();
  }
  const Ask ask{event.tag.step};
  RETURN_IF_ERROR(CheckAsk(event, ask, host));
  open_[event.from] = {.index = event.tag.index,
                       .ask = ask,
                       .gradients = static_cast<int64_t>(event.note.weight),
                       .made_at = event.note.clock};
  last_[event.from] = event.tag.index;
  slow_senders_.OnAsk();
  slow_receivers_.OnAsk();
  offered_.push_back(event.from);
  return absl::OkStatus();
}

absl::Status AsyncServer::OnReceived(const Received& event, Host& host) {
  if (EndFarewell(event.from, event.tag, host)) return absl::OkStatus();
  const auto exchange = open_.find(event.from);
  if (!posted_.contains(event.from) ||
      event.tag != AskTag(exchange->second.index, exchange->second.ask)) {
    return absl::InternalError(absl::StrCat(Describe(event.tag), " of rank ", event.from,
                                            " came without a post at version ", version_));
  }
  posted_.erase(event.from);
  slow_senders_.End(event.from);
  received_.push_back(event.from);
  return absl::OkStatus();
}

// The worker is lost, with the update that it has offered and not given.
absl::Status AsyncServer::OnLost(const Lost& event, Host& host) {
  if (EndFarewell(event.from, event.tag, host)) return absl::OkStatus();
  if (posted_.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat("the post for ", Describe(event.tag), " of rank ",
                                            event.from, " was lost, but is not awaited"));
  }
  slow_senders_.End(event.from);
  host.Drop(open_.extract(event.from).mapped().vector);
  return absl::OkStatus();
}

absl::Status AsyncServer::OnLeft(const Left& event) {
  const auto answer = leaving_.find(event.id);
  if (answer == leaving_.end()) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " has left at version ", version_,
                                            "; no such answer is on its way"));
  }
  slow_receivers_.End(answer->second.peer);
  leaving_.erase(answer);
  return absl::OkStatus();
}

absl::Status AsyncServer::OnSent(const Sent& event) {
  const auto answer = unsent_.find(event.id);
  if (answer == unsent_.end()) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported at version ",
                                            version_, "; no such answer is on its way"));
  }
  if (!event.delivered && leaving_.erase(event.id) > 0) slow_receivers_.End(answer->second.peer);
  unsent_.erase(answer);
  return absl::OkStatus();
}

void AsyncServer::Advance(Host& host) {
  while (leaving_.size() < kAnswers && (AnswerNext(host) || ApplyNext(host))) {
  }
  while (posted_.size() + received_.size() < kUpdates && PostNext(host)) {
  }
  const auto has_left = [this](Rank worker) { return HasLeft(worker); };
  const bool may_rest = !given_up_ || std::ranges::all_of(shards_.WorkerRanks(), has_left);
  if (may_rest && open_.empty() && unsent_.empty()) host.Rest(weights_);
}

bool AsyncServer::AnswerNext(Host& host) {
  const auto worker = std::ranges::find_if(applied_, [&](Rank rank) { return gate_.Passes(rank); });
  if (worker == applied_.end()) return false;
  const Exchange exchange = open_.extract(*worker).mapped();
  const Waiting answer{*worker, AnswerTag(exchange.index)};
  const SendId id =
      host.Send(answer.peer, answer.tag,
                Part{exchange.vector ? exchange.vector : weights_, 0, Range(host).size},
                {.weight = static_cast<double>(gradients_), .clock = version_});
  if (exchange.vector) host.Drop(exchange.vector);
  slow_receivers_.Begin(answer.peer);
  leaving_.emplace(id, answer);
  unsent_.emplace(id, answer);
  applied_.erase(worker);
  return true;
}

bool AsyncServer::ApplyNext(Host& host) {
  if (received_.empty()) return false;
  const Rank worker = received_.front();
  Exchange& exchange = open_.at(worker);
  if (exchange.ask == Ask::kPull) {
    host.Drop(std::exchange(exchange.vector, Vec{}));
  } else {
    Apply(&exchange, host);
  }
  gate_.On(worker, exchange.ask);
  applied_.push_back(worker);
  received_.pop_front();
  return true;
}

void AsyncServer::Apply(Exchange* exchange, Host& host) {
  const int64_t staleness = version_ - exchange->made_at;
  const ServerRule::Moved moved = rule_->Apply({.vector = exchange->vector,
                                                .version = version_,
                                                .staleness = staleness,
                                                .nominal_round = gradients_ / planned_},
                                               weights_, host);
  host.GradientApplied(staleness);
  weights_ = moved.weights;
  exchange->vector = moved.answer;
  gradients_ += exchange->gradients;
  ++version_;
  host.Boundary(version_, weights_);
}

bool AsyncServer::ServesASlowOne() const {
  const auto is_slow = [this](Rank worker) { return IsSlow(worker); };
  return std::ranges::any_of(posted_, is_slow) || std::ranges::any_of(received_, is_slow) ||
         std::ranges::any_of(applied_, is_slow) ||
         std::ranges::any_of(leaving_,
                             [&](const auto& answer) { return is_slow(answer.second.peer); });
}

bool AsyncServer::PostNext(Host& host) {
  // Where staleness is bounded, the other workers wait for the slow ones in any case.
  const bool full = !gate_.bounded() && ServesASlowOne();
  const auto next =
      std::ranges::find_if(offered_, [&](Rank rank) { return !full || !IsSlow(rank); });
  if (next == offered_.end()) return false;
  const Rank worker = *next;
  Exchange& exchange = open_.at(worker);
  const int64_t size = exchange.ask == Ask::kPull ? 0 : Range(host).size;
  exchange.vector = host.New(size, "a worker's update");
  host.Post(worker, AskTag(exchange.index, exchange.ask), Part{exchange.vector, 0, size}, version_);
  slow_senders_.Begin(worker);
  posted_.insert(worker);
  offered_.erase(next);
  return true;
}

std::vector<Waiting> AsyncServer::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Rank worker : posted_) {
    const Exchange& exchange = open_.at(worker);
    waiting.push_back({worker, AskTag(exchange.index, exchange.ask)});
  }
  for (const auto& [id, answer] : unsent_) waiting.push_back(answer);
  for (const auto& [worker, vector] : farewells_) {
    if (vector) waiting.push_back({worker, kFarewell});
  }
  return waiting;
}

}  // namespace grapevine
