#include "node/runner/runner.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "kernels/tensor/tensor_thread.h"
#include "node/runner/host_data_path.h"

namespace grapevine {
namespace {

// Far above what posts, sends and gradients of one node can add up to.
constexpr size_t kMailboxLimit = size_t{1} << 20;
// Mail ends a wait; the deadline only bounds a lost notification.
constexpr std::chrono::seconds kNextLook{1};
// Connections are dialled for this many rounds ahead.
constexpr Round kDialAhead = 4;

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
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
      mailbox_(kMailboxLimit),
      limit_(options_.limit),
      limit_final_(options_.limit >= options_.rounds) {}

Runner::~Runner() = default;

absl::Status Runner::Run(Transport* transport,
                         std::function<absl::Status(float* replica)> initialize) {
  const TensorThread tensor_thread;
  absl::Status status = BeginRun(transport, std::move(initialize));
  if (status.ok()) status = Loop();
  if (host_ != nullptr) Publish(CurrentProgress());
  EndRun();
  return status;
}

absl::Status Runner::BeginRun(Transport* transport,
                              std::function<absl::Status(float* replica)> initialize) {
  transport_ = transport;
  absl::Status status = Prepare(std::move(initialize));
  if (status.ok()) status = Begin();
  return status;
}

void Runner::EndRun() { gradients_.reset(); }

std::unique_ptr<GradientComputer> Runner::NewGradients() {
  GradientReports reports{
      .done = [this](GradientResult result) { mailbox_.Put(std::move(result)); },
      .part = [this](GradientReady part) { mailbox_.Put(part); }};
  if (options_.gradients) return options_.gradients(std::move(reports));
  return std::make_unique<GradientWorker>(
      objective_, options_.pace, std::move(reports.done), std::move(reports.part),
      [path = data_path_.get()](std::function<void()> computed) {
        path->OnceComputed(std::move(computed));
      });
}

absl::Status Runner::Prepare(std::function<absl::Status(float* replica)> initialize) {
  const OnPass on_pass = [this](Clock::time_point begin, Clock::time_point end, int64_t bytes) {
    host_->CountPass(begin, end, bytes);
  };
  if (options_.data_path) {
    absl::StatusOr<std::unique_ptr<DataPath>> path = options_.data_path(
        on_pass, [this](absl::Status why) { mailbox_.Put(DeviceFailed{std::move(why)}); });
    if (!path.ok()) return path.status();
    data_path_ = *std::move(path);
  } else {
    data_path_ = std::make_unique<HostDataPath>(on_pass);
  }
  if (objective_ != nullptr) gradients_ = NewGradients();
  reduction_ =
      std::make_unique<ModelReduction>(options_.rank, options_.workers, layout_, transport_);
  host_ = std::make_unique<NodeHost>(NodeHost::Parts{
      .layout = layout_,
      .optimizer = optimizer_,
      .transport = transport_,
      .gradients = gradients_.get(),
      .data_path = data_path_.get(),
      .model_held = [this] { return !reduction_->idle() || average_out_ || !due_.empty(); },
      .initialize = std::move(initialize),
      .at_boundary = [this](Round completed, Vec model) { AtBoundary(completed, model); },
      .at_rest = [this](Vec model) { AtRest(model); },
      .trace = options_.trace,
  });
  boundary_ = options_.now();
  if (options_.trace != nullptr) options_.trace->Start(boundary_);
  return absl::OkStatus();
}

absl::Status Runner::Begin() {
  transport_->Dial(reduction_->Peers());
  DialAhead();
  held_.push_back(RoundLimit{limit_});
  held_.push_back(Start{});
  return Pump();
}

absl::Status Runner::Loop() {
  while (!finished()) {
    const bool idle = mailbox_.empty();
    if (idle) Publish(CurrentProgress());
    const Clock::time_point since = options_.now();
    std::optional<Item> item;
    while (!item) item = mailbox_.Take(options_.now() + kNextLook);
    if (idle) Publish({.round = algorithm_->round(), .doing = "mixing", .waiting_for = {}});
    if (idle && options_.trace != nullptr) TraceWait(since, *item);
    if (absl::Status status = Digest(*std::move(item)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Runner::HandleMail() {
  while (!finished() && !mailbox_.empty()) {
    std::optional<Item> item = mailbox_.Take(options_.now());
    if (absl::Status status = Digest(*std::move(item)); !status.ok()) return status;
  }
  Publish(CurrentProgress());
  return absl::OkStatus();
}

absl::Status Runner::Digest(Item item) {
  if (absl::Status status = Handle(std::move(item)); !status.ok()) return status;
  return Pump();
}

bool Runner::finished() const {
  return resting_ && limit_final_ && held_.empty() && due_.empty() && reduction_->idle();
}

absl::Status Runner::Handle(Item item) {
  if (const auto* received = std::get_if<Received>(&item)) return OnMessage(*received);
  if (const auto* left = std::get_if<Departure>(&item)) return OnDeparture(*left);
  if (const auto* part = std::get_if<GradientReady>(&item)) {
    held_.push_back(*part);
    return absl::OkStatus();
  }
  if (const auto* result = std::get_if<GradientResult>(&item)) return OnGradient(*result);
  if (const auto* moved = std::get_if<LimitMoved>(&item)) {
    limit_final_ = limit_final_ || moved->final;
    if (moved->limit > limit_) {
      limit_ = moved->limit;
      held_.push_back(RoundLimit{limit_});
    }
    return absl::OkStatus();
  }
  if (std::holds_alternative<AverageReturned>(item)) {
    average_out_ = false;
    return absl::OkStatus();
  }
  if (const auto* failure = std::get_if<PeerFailure>(&item)) return Explain(*failure);
  if (const auto* failed = std::get_if<DeviceFailed>(&item)) return InRound(failed->why);
  return std::get<Abortion>(item).why;
}

absl::Status Runner::OnMessage(const Received& received) {
  if (received.tag.channel == ModelReduction::kChannel) {
    return reduction_->OnReceived(received.from, received.tag);
  }
  host_->OnReceived(received.from, received.tag);
  held_.push_back(received);
  return absl::OkStatus();
}

absl::Status Runner::OnDeparture(const Departure& message) {
  if (message.tag.channel == ModelReduction::kChannel) {
    return reduction_->OnSent(message.to, message.tag);
  }
  held_.push_back(Sent{host_->OnSent(message.to, message.tag)});
  return absl::OkStatus();
}

absl::Status Runner::OnGradient(const GradientResult& result) {
  if (!result.loss.ok()) return InRound(result.loss.status());
  loss_ = *result.loss;
  gradient_seconds_ = Seconds(result.end - result.begin);
  if (options_.trace != nullptr) {
    options_.trace->EndGradient(result.round, result.begin, result.end);
  }
  if (!std::isfinite(loss_)) return Diverged(result.round);
  host_->EndGradient();
  held_.push_back(GradientReady{result.round});
  return absl::OkStatus();
}

absl::Status Runner::Diverged(Round round) {
  const std::string where = host_->WhereNotFinite();
  return WithFailure(absl::OutOfRangeError(absl::StrCat(
                         "rank ", options_.rank, ": the loss became ", loss_, " in round ", round,
                         where.empty() ? "" : ", and " + where + " is not finite",
                         "; a lower --lr, a warm-up (--schedule) or less --momentum may help")),
                     Failure::kDiverged);
}

absl::Status Runner::Pump() {
  while (true) {
    if (absl::Status status = AdvanceReductions(); !status.ok()) return status;
    host_->StartGradient();
    if (absl::Status status = host_->status(); !status.ok()) return Explain(std::move(status));
    // A reduction that waits for an earlier one holds the run up: replicas of
    // two past rounds would be kept.
    if (held_.empty() || !due_.empty()) return absl::OkStatus();
    const Event event = held_.front();
    held_.pop_front();
    if (std::holds_alternative<RoundLimit>(event)) LeaveRest();
    if (absl::Status status = algorithm_->On(event, *host_); !status.ok()) return status;
    if (!observed_.ok()) return InRound(observed_);
  }
}

absl::Status Runner::AdvanceReductions() {
  while (true) {
    if (std::optional<AveragedModel> average = reduction_->TakeResult()) {
      average_out_ = true;
      observer_->OnAverage(*std::move(average));
    }
    if (!reduction_->idle() || average_out_ || due_.empty()) return absl::OkStatus();
    DueReduction due = std::move(due_.front());
    due_.pop_front();
    absl::Status status = reduction_->Begin(due.round, std::move(due.model));
    if (!status.ok()) return status;
  }
}

SharedVector Runner::Fetch(Vec model) {
  if (!model) return {};
  absl::StatusOr<SharedVector> fetched = data_path_->Read(data_path_->vectors().At(model));
  observed_.Update(fetched.status());
  return fetched.ok() ? *std::move(fetched) : SharedVector{};
}

void Runner::AtRest(Vec model) {
  resting_ = true;
  model_ = Fetch(model);
}

// Not when the limit is told to move: what is held back before that may still end in a rest
// at the limit of old.
void Runner::LeaveRest() {
  resting_ = false;
  model_ = {};  // or the replica of that rest would stay in memory
}

void Runner::AtBoundary(Round completed, Vec model) {
  const Clock::time_point now = options_.now();
  const NodeHost::Arithmetic mix = host_->arithmetic();
  if (options_.trace != nullptr) options_.trace->EndStep(completed - 1, now);
  observed_.Update(observer_->OnRound({.completed = completed,
                                       .loss = loss_,
                                       .seconds = Seconds(now - std::exchange(boundary_, now)),
                                       .gradient_seconds = gradient_seconds_,
                                       .mix_seconds = mix.seconds - mix_before_.seconds,
                                       .mix_bytes = mix.bytes - mix_before_.bytes,
                                       .bytes_sent = host_->bytes_sent(),
                                       .bytes_received = host_->BytesReceived(completed)},
                                      BoundaryModel(data_path_.get(), model)));
  mix_before_ = mix;
  if (model && options_.evaluate(completed)) due_.push_back({completed, Fetch(model)});
  DialAhead();
}

void Runner::TraceWait(Clock::time_point since, const Item& item) {
  const Clock::time_point now = options_.now();
  if (const auto* received = std::get_if<Received>(&item)) {
    options_.trace->Wait(received->from, since, now);
  } else if (const auto* left = std::get_if<Departure>(&item)) {
    options_.trace->Wait(left->to, since, now);
  }
}

void Runner::DialAhead() {
  const Round ahead = algorithm_->round() + kDialAhead;
  if (ahead <= dialled_) return;
  transport_->Dial(algorithm_->Peers(dialled_, ahead));
  dialled_ = ahead;
}

void Runner::SetLimit(Round limit, bool final) { mailbox_.Put(LimitMoved{limit, final}); }
void Runner::OnAverageDone() { mailbox_.Put(AverageReturned{}); }
void Runner::Abort(absl::Status why) { mailbox_.Put(Abortion{std::move(why)}); }
void Runner::OnReceived(const Received& message) {
  if (options_.trace != nullptr && message.tag.channel != ModelReduction::kChannel) {
    options_.trace->Receive(message.from, message.tag);
  }
  mailbox_.Put(message);
}

void Runner::OnSent(Rank to, Tag tag) {
  if (options_.trace != nullptr) options_.trace->EndSend(to, tag);
  mailbox_.Put(Departure{to, tag});
}

void Runner::OnPeerFailed(Rank peer, const absl::Status& why) {
  mailbox_.Put(PeerFailure{peer, why});
}

// Of a request: no memory, a device that failed, a send that the transport refused;
// anything else says itself what it is.
absl::Status Runner::Explain(absl::Status why) const {
  if (FailureOf(why) != Failure::kOther) return why;
  if (!data_path_->status().ok()) return InRound(why);
  return WithFailure(std::move(why), Failure::kPeerLost);
}

absl::Status Runner::InRound(const absl::Status& why) const {
  absl::Status status(why.code(),
                      absl::StrCat("rank ", options_.rank, ", round ", algorithm_->round(), ": ",
                                   std::string(why.message())));
  const Failure known = FailureOf(why);
  if (known != Failure::kOther) return WithFailure(std::move(status), known);
  return options_.data_path ? WithFailure(std::move(status), Failure::kDevice) : status;
}

absl::Status Runner::Explain(const PeerFailure& failure) {
  lost_peer_ = failure.peer;
  absl::Status status(
      failure.why.code(),
      absl::StrCat("rank ", options_.rank, " lost rank ", failure.peer, " in round ",
                   algorithm_->round(), ": ", std::string(failure.why.message())));
  const Failure known = FailureOf(failure.why);
  return WithFailure(std::move(status), known == Failure::kOther ? Failure::kPeerLost : known);
}

bool Runner::AwaitsEvaluation() const { return average_out_ && (resting_ || !due_.empty()); }

std::set<Rank> Runner::WaitingFor() const {
  std::set<Rank> ranks = host_->HoldsGradientBackFor();
  for (const Waiting& message : reduction_->waiting_for()) ranks.insert(message.peer);
  // What reductions hold back from the algorithm may be what it waits for.
  if (due_.empty()) {
    for (const Waiting& message : algorithm_->waiting_for()) ranks.insert(message.peer);
  }
  if (resting_ && !limit_final_) ranks.insert(0);  // which moves the end, or settles it
  return ranks;
}

Progress Runner::CurrentProgress() const {
  Progress progress{.round = algorithm_->round(), .doing = "computing", .waiting_for = {}};
  if (AwaitsEvaluation()) {
    progress.doing = "evaluating";
  } else if (!host_->computes()) {
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

}  // namespace grapevine
