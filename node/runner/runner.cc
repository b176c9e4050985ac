#include "node/runner/runner.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/tensor/tensor_thread.h"
#include "node/runner/model_assembly.h"
#include "node/runner/model_broadcast.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

// Mail ends a wait; the deadline only bounds a lost notification.
constexpr std::chrono::seconds kNextLook{1};
// Connections are dialled for this many rounds ahead.
constexpr Round kDialAhead = 4;

RoundLeave::Extent LeaveOf(const RunnerOptions& options) {
  if (options.open_ended) return RoundLeave::Extent::kOne;
  return options.saves_on_call ? RoundLeave::Extent::kSomeAhead : RoundLeave::Extent::kAll;
}

}  // namespace

Runner::Runner(RunnerOptions options, std::unique_ptr<Algorithm> algorithm, Objective* objective,
               const ReplicaLayout* layout, const Optimizer* optimizer, RunObserver* observer)
    : options_(std::move(options)),
      algorithm_(std::move(algorithm)),
      objective_(objective),
      layout_(layout),
      optimizer_(optimizer),
      observer_(observer),
      leave_(LeaveOf(options_), options_.open_ended ? 1 : options_.window),
      limit_(options_.limit),
      limit_final_(!options_.shares_budget && !options_.open_ended &&
                   options_.limit >= options_.rounds) {
  if (!options_.changes_views) return;
  peers_ = std::make_unique<LivingPeers>(
      [this](Rank from, Tag tag) {
        mailbox_.Put(Lost{from, tag});
      },
      [this](Rank to, Tag tag) {
        mailbox_.Put(Mailbox::MessageDeclined{to, tag});
      },
      ModelAssembly::EpochOf);
}

Runner::~Runner() = default;

absl::Status Runner::Run(Transport* transport,
                         std::function<absl::Status(float* replica)> initialize) {
  const TensorThread tensor_thread;
  absl::Status status = BeginRun(transport, std::move(initialize));
  if (status.ok()) status = Loop();
  if (gradients_ != nullptr) Publish(CurrentProgress());
  EndRun();
  return status;
}

absl::Status Runner::BeginRun(Transport* transport,
                              std::function<absl::Status(float* replica)> initialize) {
  if (peers_) peers_->Use(transport);
  transport_ = peers_ ? peers_.get() : transport;
  initialize_ = std::move(initialize);
  RETURN_IF_ERROR(MakeParts());
  return Begin();
}

void Runner::EndRun() {
  if (gradients_ != nullptr) gradients_->Stop();
}

absl::Status Runner::MakeParts() {
  const auto on_pass = [this](Clock::time_point begin, Clock::time_point end, int64_t bytes) {
    OnPass(begin, end, bytes);
  };
  if (options_.data_path) {
    ASSIGN_OR_RETURN(data_path_, options_.data_path(on_pass, [this](absl::Status why) {
      mailbox_.Put(Mailbox::DeviceFailed{std::move(why)});
    }));
  } else {
    data_path_ = std::make_unique<HostDataPath>(on_pass);
  }
  exchange_ = std::make_unique<NodeExchange>(data_path_.get(), transport_, options_.trace,
                                             options_.max_norm);
  gradients_ = std::make_unique<GradientLane>(objective_ == nullptr ? nullptr : NewGradients(),
                                              data_path_.get(), exchange_.get(), options_.trace);
  if (options_.evaluated == EvaluatedModel::kServersWeights) {
    assembly_ = std::make_unique<ModelGather>(options_.rank, options_.workers, options_.nodes,
                                              layout_, transport_);
  } else {
    assembly_ =
        std::make_unique<ModelReduction>(options_.rank, options_.workers, layout_, transport_);
    if (options_.tells_average) {
      assembly_ = std::make_unique<ModelBroadcast>(std::move(assembly_), options_.rank,
                                                   options_.workers, layout_, transport_);
    }
  }
  return absl::OkStatus();
}

std::unique_ptr<GradientComputer> Runner::NewGradients() {
  GradientReports reports{
      .done = [this](GradientResult result) { mailbox_.Put(std::move(result)); },
      .part = [this](GradientReady part) { mailbox_.Put(part); }};
  if (options_.gradients) return options_.gradients(std::move(reports));
  return std::make_unique<GradientWorker>(
      objective_, options_.pace, std::move(reports),
      [path = data_path_.get()](std::function<void()> computed) {
        path->OnceComputed(std::move(computed));
      },
      [path = data_path_.get()](const SharedVector& gradient) { return path->IsFinite(gradient); });
}

absl::Status Runner::Begin() {
  boundary_ = options_.now();
  if (options_.trace != nullptr) options_.trace->Start(boundary_);
  begin_ = dialled_ = BeginRound();
  step_.Begin(begin_, boundary_.time_since_epoch());
  if (views_.empty()) {
    transport_->Dial(assembly_->Peers());
    DialAhead();
  } else {
    LeaveOutOthersThan(*views_.front().view);
  }
  const std::unique_ptr<StateRestorer> restorer = Restorer();
  held_.push_back(RoundLimit{leave_.Begin(begin_, limit_)});
  held_.push_back(Start{.round = begin_,
                        .state = restorer.get(),
                        .joins = views_.empty() ? nullptr : views_.front().view.get()});
  RETURN_IF_ERROR(NamingLostPeer(Pump()));
  const absl::Status restored = restorer ? CheckRestored(*restorer) : absl::OkStatus();
  resumed_.reset();
  return restored;
}

void Runner::GoOnFrom(SavedNode saved) {
  resumed_ = std::move(saved);
  restores_ = true;
}

void Runner::BeginIn(Round round, int64_t bytes_sent, int64_t bytes_received) {
  resumed_ = {.state = {.round = round, .vectors = {}, .numbers = {}, .model = ""},
              .checkpoint = round,
              .bytes_sent = bytes_sent,
              .bytes_received = bytes_received,
              .at = {}};
  restores_ = false;
}

void Runner::ComeIn(View view, Rank lead) {
  views_.push_back({std::make_shared<const View>(std::move(view)), std::nullopt, lead});
}

void Runner::CountOn(int64_t bytes_sent, int64_t bytes_received) {
  sent_before_ = bytes_sent;
  received_before_ = bytes_received;
}

Round Runner::BeginRound() {
  if (resumed_) {
    last_cut_ = resumed_->checkpoint;
    return resumed_->state.round;
  }
  if (views_.empty()) return 0;
  const Round from = views_.front().view->from;
  exchange_->GoOnFrom(sent_before_, received_before_);
  return from;
}

void Runner::LeaveOutOthersThan(const View& view) {
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    if (!view.RankOf(rank)) peers_->LeaveOut(rank);
  }
}

std::unique_ptr<StateRestorer> Runner::Restorer() {
  if (!resumed_) return nullptr;
  exchange_->GoOnFrom(resumed_->bytes_sent, resumed_->bytes_received);
  if (!restores_) return nullptr;
  const auto fill = [this](Vec vector, std::span<const float> elements) {
    if (elements.empty()) return;  // a device has no memory for it
    status_.Update(data_path_->Write(vector, [elements](float* memory) {
      std::ranges::copy(elements, memory);
      return absl::OkStatus();
    }));
  };
  return std::make_unique<StateRestorer>(
      &resumed_->state,
      StateRestorer::Vectors{
          .size = [this](Vec vector) { return data_path_->vectors().At(vector).size; },
          .fill = fill});
}

absl::Status Runner::CheckRestored(const StateRestorer& restorer) const {
  const absl::Status restored = restorer.Finish();
  if (restored.ok()) return absl::OkStatus();
  return InputError(absl::StrCat("the saved state of rank ", options_.rank, " ",
                                 std::string(restored.message())));
}

absl::Status Runner::Loop() {
  while (!finished()) {
    const bool idle = mailbox_.empty();
    if (idle) Publish(CurrentProgress());
    const Clock::time_point since = options_.now();
    std::optional<Mailbox::Item> item;
    while (!item) item = mailbox_.Take(options_.now() + kNextLook);
    if (idle) Publish({.round = algorithm_->round(), .doing = "mixing", .waiting_for = {}});
    if (idle && options_.trace != nullptr) TraceWait(since, *item);
    RETURN_IF_ERROR(Handle(*item));
  }
  return absl::OkStatus();
}

absl::Status Runner::HandleMail() {
  while (!finished() && !mailbox_.empty()) {
    RETURN_IF_ERROR(Handle(*mailbox_.Take(options_.now())));
  }
  Publish(CurrentProgress());
  return absl::OkStatus();
}

bool Runner::finished() const {
  const bool assembled = assembly_->idle() && !assembly_->behind();
  return resting_ && MayEnd() && held_.empty() && assembled && !HeldUp();
}

absl::Status Runner::Handle(const Mailbox::Item& item) {
  absl::Status status = std::visit([this](const auto& mail) { return On(mail); }, item);
  if (status.ok()) status = Pump();
  return NamingLostPeer(std::move(status));
}

absl::Status Runner::On(const Received& message) {
  if (ModelAssembly::IsItsOwn(message.tag)) return assembly_->OnReceived(message);
  const absl::Status numbers = exchange_->OnReceived(message.from, message.tag);
  if (!numbers.ok()) return InRound(numbers);
  step_.OnMessage(message.from, exchange_->RoundOf(message.from, message.tag),
                  options_.now().time_since_epoch());
  held_.push_back(message);
  return absl::OkStatus();
}

absl::Status Runner::On(const Offered& offer) {
  if (ModelAssembly::IsItsOwn(offer.tag)) {
    return InRound(absl::InternalError(absl::StrCat(
        "rank ", offer.from, " offered ", Describe(offer.tag), " of the averaged model")));
  }
  held_.push_back(offer);
  return absl::OkStatus();
}

absl::Status Runner::On(const Lost& post) {
  if (ModelAssembly::IsItsOwn(post.tag)) return assembly_->OnLost(post.from, post.tag);
  exchange_->OnLost(post.from, post.tag);
  held_.push_back(post);
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::MessageDeclined& message) {
  if (ModelAssembly::IsItsOwn(message.tag)) {
    return assembly_->OnUndelivered(message.to, message.tag);
  }
  if (options_.trace != nullptr) options_.trace->ForgetSend(message.to, message.tag);
  held_.push_back(Sent{exchange_->OnDeclined(message.to, message.tag), false});
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::MessageLeft& message) {
  if (ModelAssembly::IsItsOwn(message.tag)) return absl::OkStatus();
  held_.push_back(Left{exchange_->OnLeft(message.to, message.tag)});
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::MessageSent& message) {
  if (ModelAssembly::IsItsOwn(message.tag)) return assembly_->OnSent(message.to, message.tag);
  held_.push_back(Sent{exchange_->OnSent(message.to, message.tag)});
  return absl::OkStatus();
}

absl::Status Runner::On(const GradientReady& part) {
  held_.push_back(part);
  return absl::OkStatus();
}

absl::Status Runner::On(const GradientResult& result) {
  if (!result.loss.ok()) return InRound(result.loss.status());
  report_.loss = *result.loss;
  report_.noise = result.noise;
  report_.norms = result.norms;
  report_.gradient = result.end - result.begin;
  step_.OnGradient(result.begin.time_since_epoch(), result.end.time_since_epoch());
  if (options_.trace != nullptr) {
    options_.trace->EndGradient(result.round, result.begin, result.end);
  }
  const bool finite_loss = std::isfinite(report_.loss) || !result.has_loss;
  if (!finite_loss || !result.finite) return Diverged(result.round);
  gradients_->End();
  held_.push_back(GradientReady{result.round});
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::LimitMoved& moved) {
  limit_final_ = limit_final_ || moved.final;
  const bool closes = options_.open_ended && moved.limit < limit_;
  if (closes || moved.limit > limit_) {
    limit_ = moved.limit;
    Grant(leave_.OnLimit(limit_));
    step_reports_.OnLimit(limit_);
  }
  return absl::OkStatus();
}

void Runner::Grant(std::optional<Round> leave) {
  if (leave) held_.push_back(RoundLimit{*leave});
}

absl::Status Runner::On(const Mailbox::CheckpointDue& due) {
  if (due.round && *due.round <= leave_.granted()) {
    return WithFailure(
        absl::InternalError(absl::StrCat(
            "rank 0 calls for a checkpoint of round ", *due.round, ", when rank ", options_.rank,
            " has had leave for ", leave_.granted(), "; run the same grapevine on every host")),
        Failure::kPeerLost);
  }
  if (due.round) called_.push_back(*due.round);
  Grant(leave_.Release(due.ballot));
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::CutDue& cut) {
  cuts_.push_back({cut.round, views_.size()});
  if (!resting_) return absl::OkStatus();
  // The node rests: everything that came for the rounds before has been counted.
  TakeDueCuts(algorithm_->round() + 1, rest_);
  ReportSteps(algorithm_->round());
  return observed_.ok() ? absl::OkStatus() : InRound(observed_);
}

// Asks at once, whatever is held back: held events may wait for nodes that are lost.
absl::Status Runner::On(const grapevine::Prepare& prepare) {
  if (!budget_is_used_up()) return algorithm_->On(prepare, *this);
  observer_->OnPromise(prepare.ballot, -1);  // this node begins no round
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::ViewAgreed& agreed) {
  views_.push_back(agreed);
  const View& view = *agreed.view;
  LeaveOutOthersThan(view);
  if (budget_is_used_up()) return absl::OkStatus();
  // A node that takes leave exchanges messages with the same nodes as before, and so do all nodes
  // if none is lost.
  const Rank before = views_.size() > 1 ? views_.rbegin()[1].view->size() : options_.nodes;
  const bool same = view.size() == before;
  if (algorithm_->gives_way() && !algorithm_->takes_leave() && !same) DialMembers(view);
  if (agreed.again && shown_ && shown_->round == *agreed.again) {
    assembly_->Add({shown_->round, shown_->model, agreed.view, agreed.lead});
  }
  held_.push_back(ViewChanged{&view});
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::AverageDone&) {
  assembly_->ReleaseAverage();
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::StateWritten&) {
  states_.Release();
  return absl::OkStatus();
}

absl::Status Runner::On(const Mailbox::PeerFailed& failed) {
  if (peers_) {
    if (!peers_->LeftOut(failed.peer)) {
      observer_->OnPeerLost(failed.peer, LossOf(failed.peer, failed.why));
    }
    return absl::OkStatus();
  }
  return PeerLost(failed.peer, failed.why);
}

absl::Status Runner::PeerLost(Rank peer, const absl::Status& why) {
  lost_peer_ = peer;
  return LossOf(peer, why);
}

absl::Status Runner::LossOf(Rank peer, const absl::Status& why) const {
  absl::Status status(why.code(),
                      absl::StrCat("rank ", options_.rank, " lost rank ", peer, " in round ",
                                   algorithm_->round(), ": ", std::string(why.message())));
  const Failure known = FailureOf(why);
  return WithFailure(std::move(status), known == Failure::kOther ? Failure::kPeerLost : known);
}

absl::Status Runner::Pump() {
  while (true) {
    RETURN_IF_ERROR(AdvanceReductions());
    gradients_->Begin(assembly_->holds_model());
    RETURN_IF_ERROR(RequestStatus());
    HandOverState();
    // A reduction that waits for an earlier one holds the run up, since replicas of two past rounds
    // would be kept; a state that waits does so, too.
    const auto next = NextHeard();
    if (next == held_.end()) return finished() ? FetchModel() : absl::OkStatus();
    const Event event = *next;
    held_.erase(next);
    if (!exchange_->Admits(event)) continue;
    LeaveRest();
    if (const auto* received = std::get_if<Received>(&event)) states_.OnReceived(*received);
    if (const auto* lost = std::get_if<Lost>(&event)) states_.OnLost(*lost);
    RETURN_IF_ERROR(algorithm_->On(event, *this));
    if (!observed_.ok()) return InRound(observed_);
  }
}

std::deque<Event>::iterator Runner::NextHeard() {
  if (!HeldUp()) return held_.begin();
  return std::ranges::find_if(held_,
                              [this](const Event& event) { return algorithm_->MustHear(event); });
}

absl::Status Runner::AdvanceReductions() {
  RETURN_IF_ERROR(assembly_->BeginDue());
  if (std::optional<AveragedModel> average = assembly_->TakeAverage()) {
    observer_->OnAverage(*std::move(average));
  }
  if (const std::optional<AveragedModel> told = assembly_->TakeTold()) {
    observer_->OnToldAverage(*told);
  }
  for (const Round round : assembly_->TakeVoid()) {
    const auto comes_again = [round](const auto& agreed) { return agreed.again == round; };
    if (!std::ranges::any_of(views_, comes_again)) observer_->OnNoAverage(round);
  }
  return absl::OkStatus();
}

// The rest does not end as soon as the limit moves: events held back from before that may still end
// in a rest at the old limit.
void Runner::LeaveRest() {
  // The rest was a wait for rank 0 or for the end, not for a neighbour.
  if (resting_) step_.Pause(options_.now() - rested_);
  resting_ = false;
  rest_ = {};
}

absl::Status Runner::FetchModel() {
  model_ = Fetch(rest_);
  return observed_.ok() ? absl::OkStatus() : InRound(observed_);
}

SharedVector Runner::Fetch(Vec model) {
  if (!model) return {};
  absl::StatusOr<SharedVector> fetched = data_path_->Read(data_path_->vectors().At(model));
  observed_.Update(fetched.status());
  return fetched.ok() ? *std::move(fetched) : SharedVector{};
}

SharedVector Runner::Frozen(Vec vector, Vec model) {
  if (vector == model) return Fetch(vector);  // a vector that was shown is not written again
  if (data_path_->vectors().Whole(vector).size == 0) return NewSharedVector(0);
  absl::StatusOr<SharedVector> copy = data_path_->Copy(vector);
  observed_.Update(copy.status());
  return copy.ok() ? *std::move(copy) : SharedVector{};
}

void Runner::SaveState(Round checkpoint, Round completed, Vec model, Clock::time_point at) {
  // If the round under way was given up, nothing that has come in it is for another round.
  const Round received = options_.shares_budget ? completed + 1 : completed;
  SavedNode counted{.state = {},
                    .checkpoint = checkpoint,
                    .bytes_sent = exchange_->bytes_sent(),
                    .bytes_received = exchange_->BytesReceived(received),
                    .at = at};
  StateSaver& saver = states_.Begin(completed, model, std::move(counted),
                                    [this, model](Vec vector) { return Frozen(vector, model); });
  observed_.Update(algorithm_->VisitState(saver, *this));
}

void Runner::HandOverState() {
  if (std::optional<SavedNode> saved = states_.Take()) observer_->OnState(*std::move(saved));
}

void Runner::DialAhead() {
  const Round ahead = std::max(algorithm_->round(), begin_) + kDialAhead;
  if (ahead <= dialled_) return;
  transport_->Dial(algorithm_->Peers(dialled_, ahead));
  dialled_ = ahead;
}

// A member that has given up has posted for no message, but must hear of everything that is offered
// to it, by any member; and a member that is behind may ask any other.
void Runner::DialMembers(const View& view) {
  std::vector<Rank> others = view.members;
  std::erase(others, options_.rank);
  transport_->Dial(others);
}

void Runner::OnPass(Clock::time_point begin, Clock::time_point end, int64_t bytes) {
  report_.mix += end - begin;
  step_.OnArithmetic(end - begin);
  report_.mix_bytes += bytes;
  if (options_.trace != nullptr) options_.trace->Mix(begin, end);
}

void Runner::TraceWait(Clock::time_point since, const Mailbox::Item& item) {
  const Clock::time_point now = options_.now();
  if (const auto* received = std::get_if<Received>(&item)) {
    options_.trace->Wait(received->from, since, now);
  } else if (const auto* offer = std::get_if<Offered>(&item)) {
    options_.trace->Wait(offer->from, since, now);
  } else if (const auto* left = std::get_if<Mailbox::MessageLeft>(&item)) {
    options_.trace->Wait(left->to, since, now);
  } else if (const auto* sent = std::get_if<Mailbox::MessageSent>(&item)) {
    options_.trace->Wait(sent->to, since, now);
  }
}

void Runner::SetLimit(Round limit, bool final) { mailbox_.Put(Mailbox::LimitMoved{limit, final}); }
void Runner::Cut(Round round) { mailbox_.Put(Mailbox::CutDue{round}); }
void Runner::Prepare(uint32_t ballot) { mailbox_.Put(grapevine::Prepare{ballot}); }
void Runner::ChangeView(View view, std::optional<Round> again, Rank lead) {
  mailbox_.Put(Mailbox::ViewAgreed{std::make_shared<const View>(std::move(view)), again, lead});
}
void Runner::SaveAt(uint32_t ballot, std::optional<Round> round) {
  mailbox_.Put(Mailbox::CheckpointDue{ballot, round});
}
void Runner::OnAverageDone() { mailbox_.Put(Mailbox::AverageDone{}); }
void Runner::OnStateWritten() { mailbox_.Put(Mailbox::StateWritten{}); }
void Runner::Abort(absl::Status why) { mailbox_.Put(Mailbox::Aborted{std::move(why)}); }

void Runner::OnReceived(const Received& message) {
  if (peers_ && !peers_->TakePost(message.from, message.tag)) return;
  if (options_.trace != nullptr && !ModelAssembly::IsItsOwn(message.tag)) {
    options_.trace->Receive(message.from, message.tag);
  }
  mailbox_.Put(message);
}

void Runner::OnLeft(Rank to, Tag tag) {
  if (peers_ && !peers_->Sends(to, tag)) return;
  if (options_.trace != nullptr) options_.trace->EndSend(to, tag);
  mailbox_.Put(Mailbox::MessageLeft{to, tag});
}

void Runner::OnSent(Rank to, Tag tag) {
  if (peers_ && !peers_->TakeSend(to, tag)) return;
  mailbox_.Put(Mailbox::MessageSent{to, tag});
}

void Runner::OnDeclined(Rank to, Tag tag) {
  if (peers_ && !peers_->TakeSend(to, tag)) return;
  mailbox_.Put(Mailbox::MessageDeclined{to, tag});
}

void Runner::OnOffered(const Offered& offer) {
  if (peers_ && peers_->LeftOut(offer.from)) return;
  mailbox_.Put(offer);
}

void Runner::OnLost(Rank from, Tag tag) {
  if (peers_ && !peers_->TakePost(from, tag)) return;
  mailbox_.Put(Lost{from, tag});
}

void Runner::OnPeerFailed(Rank peer, const absl::Status& why) {
  mailbox_.Put(Mailbox::PeerFailed{peer, why});
}

absl::Status Runner::InRound(const absl::Status& why) const {
  absl::Status status(why.code(),
                      absl::StrCat("rank ", options_.rank, ", round ", algorithm_->round(), ": ",
                                   std::string(why.message())));
  const Failure known = FailureOf(why);
  if (known != Failure::kOther) return WithFailure(std::move(status), known);
  return options_.data_path ? WithFailure(std::move(status), Failure::kDevice) : status;
}

absl::Status Runner::NamingLostPeer(absl::Status status) {
  const std::optional<Rank> peer = LostPeer(status);
  return peer ? PeerLost(*peer, status) : status;
}

absl::Status Runner::Diverged(Round round) const {
  const std::string where = gradients_->WhereNotFinite(*layout_);
  return WithFailure(
      absl::OutOfRangeError(absl::StrCat(
          "rank ", options_.rank,
          std::isfinite(report_.loss) ? ": the loss is " : ": the loss became ", report_.loss,
          " in round ", round, where.empty() ? "" : ", and " + where + " is not finite",
          "; a lower --lr, a warm-up (--schedule) or less --momentum may help")),
      Failure::kDiverged);
}

// An error without a class comes from the data path (no memory, a device that failed), or from a
// send that the transport refused.
absl::Status Runner::RequestStatus() const {
  absl::Status status = status_;
  status.Update(exchange_->status());
  status.Update(data_path_->status());
  if (status.ok() || FailureOf(status) != Failure::kOther) return status;
  if (!data_path_->status().ok()) return InRound(status);
  return WithFailure(std::move(status), Failure::kPeerLost);
}

bool Runner::AwaitsEvaluation() const {
  return assembly_->average_out() && (resting_ || assembly_->behind());
}

std::set<Rank> Runner::WaitingFor() const {
  std::set<Rank> ranks = gradients_->HeldBackFor();
  for (const Waiting& message : assembly_->waiting_for()) ranks.insert(message.peer);
  // The algorithm may wait for an event that the reductions hold back.
  if (!assembly_->holds_up()) {
    for (const Waiting& message : algorithm_->waiting_for()) ranks.insert(message.peer);
  }
  // The coordinator moves the end, or settles it.
  if (resting_ && !MayEnd()) ranks.insert(views_.empty() ? 0 : views_.back().lead);
  return ranks;
}

Progress Runner::CurrentProgress() const {
  Progress progress{.round = algorithm_->round(), .doing = "computing", .waiting_for = {}};
  if (AwaitsEvaluation()) {
    progress.doing = "evaluating";
  } else if (states_.behind()) {
    progress.doing = "writing a checkpoint";
  } else if (!gradients_->busy()) {
    const std::set<Rank> ranks = WaitingFor();
    progress.waiting_for.assign(ranks.begin(), ranks.end());
    if (!ranks.empty()) progress.doing = "waiting";
  }
  return progress;
}

void Runner::Publish(Progress progress) {
  MutexLock lock(progress_mutex_);
  progress_ = std::move(progress);
}

Progress Runner::progress() const {
  MutexLock lock(progress_mutex_);
  return progress_;
}

Vec Runner::InitialReplica(ReplicaRange range) {
  const Vec replica = New(range.size, "the starting replica");
  status_.Update(data_path_->Write(replica, [&](float* memory) {
    if (range.size == replica_size()) return initialize_(memory);
    // The memory does not come from a pool, which would keep that of a whole replica.
    const SharedVector whole = NewSharedVector(replica_size());
    absl::Status status = initialize_(whole.data.get());
    std::copy_n(whole.data.get() + range.offset, range.size, memory);
    return status;
  }));
  return replica;
}

Vec Runner::NewOptimizerState(ReplicaRange range) {
  return data_path_->NewZeros(OptimizerStateSize(*optimizer_, *layout_, range),
                              "the optimizer's state");
}

void Runner::Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  gradients_->Ask(at, into, round, cuts);
  // The gradient begins before the sends that follow, so that the device has work.
  gradients_->Begin(assembly_->holds_model());
}

void Runner::Step(const StepRequest& request) { data_path_->Step(*optimizer_, *layout_, request); }

void Runner::BeginView(const View& view, Vec model) {
  if (view.checkpoint > 0) {
    SaveState(view.checkpoint, algorithm_->round(), model, options_.now());
  }
  // This is the node's own first view: it knows of no other process.
  if (view.IsNewcomer(options_.rank)) return;
  for (const Member newcomer : view.newcomers) {
    const auto leaves_out = [&](const auto& agreed) {
      return agreed.view->epoch > view.epoch && !agreed.view->RankOf(newcomer);
    };
    if (std::ranges::none_of(views_, leaves_out)) peers_->TakeInWith(newcomer, view.epoch);
  }
}

SendId Runner::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  return exchange_->Send(to, tag, payload, note);
}

void Runner::Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) {
  exchange_->Post(from, tag, into, round, credit);
}

SendId Runner::Offer(Rank to, Tag tag, const Payload& payload, const Note& note) {
  return exchange_->Offer(to, tag, payload, note);
}

void Runner::Decline(Rank from, Tag tag) { exchange_->Decline(from, tag); }

void Runner::Withdraw(Rank from, Tag tag) { exchange_->Withdraw(from, tag); }

void Runner::Boundary(Round completed, Vec model) {
  const Clock::time_point now = options_.now();
  if (options_.trace != nullptr) options_.trace->EndStep(completed - 1, now);
  report_.completed = completed;
  report_.time = now - std::exchange(boundary_, now);
  const StepAccount::Step step = step_.End(completed, now.time_since_epoch());
  report_.awaited = step.awaited;
  report_.waited = step.wait;
  observed_.Update(observer_->OnRound(report_, BoundaryModel(data_path_.get(), model)));
  report_.mix = {};
  report_.mix_bytes = 0;
  if (options_.shares_budget) {
    TakeDueCuts(completed, model);
    ReportSteps(completed);
  } else {
    TakeCut({completed, ViewsBefore(completed)}, completed, model);
  }
  if (Saves(completed)) SaveState(completed, completed, model, boundary_);
  Grant(leave_.OnCompleted(completed, report_.time));
  DialAhead();
}

bool Runner::Saves(Round completed) {
  const bool called = !called_.empty() && called_.front() == completed;
  if (called) called_.pop_front();
  return called || (options_.saved && options_.saved(completed));
}

void Runner::TakeCut(DueCut cut, Round completed, Vec model) {
  last_cut_ = cut.round;
  const CutReport report{.round = cut.round,
                         .bytes_sent = exchange_->bytes_sent(),
                         .bytes_received = exchange_->BytesReceived(completed)};
  observed_.Update(observer_->OnCut(report, BoundaryModel(data_path_.get(), model)));
  if (model && assembly_->takes_part() && options_.evaluate(cut.round)) {
    AddToAverage({cut.round, Fetch(model)}, cut.views);
  }
}

// A view holds from its first round on, which no lost node begins; what is measured before that
// round may still include the lost. All members go through the same averages, including those that
// are done again.
size_t Runner::ViewsBefore(Round round) const {
  const auto begun = [round](const auto& agreed) { return agreed.view->from < round; };
  return static_cast<size_t>(std::ranges::count_if(views_, begun));
}

void Runner::AddToAverage(ModelAssembly::Due due, size_t views) {
  if (views > 0) {
    due.view = views_[views - 1].view;
    due.lead = views_[views - 1].lead;
  }
  if (peers_) shown_ = due;
  assembly_->Add(due);
  for (const auto& [view, again, lead] : views_) {
    if (again == due.round) assembly_->Add({due.round, due.model, view, lead});
  }
}

void Runner::TakeDueCuts(Round completed, Vec model) {
  for (; !cuts_.empty(); cuts_.pop_front()) TakeCut(cuts_.front(), completed, model);
}

void Runner::ReportSteps(Round steps) {
  const StepsReport report{.steps = steps, .resting = resting_, .cut = last_cut_};
  if (step_reports_.Due(report, options_.now())) observer_->OnSteps(report);
}

void Runner::Rest(Vec model) {
  resting_ = true;
  rested_ = options_.now();
  rest_ = model;
  if (!options_.shares_budget) return;
  TakeDueCuts(algorithm_->round() + 1, model);
  ReportSteps(algorithm_->round());
}

}  // namespace grapevine
