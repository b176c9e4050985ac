#include "node/grpc_control_client.h"

#include <glog/logging.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "run/failure.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMinPulse{10};
constexpr milliseconds kMaxPulse{1000};
constexpr milliseconds kRetryInterval{100};
constexpr milliseconds kLeaveTimeout{1000};

std::string Seconds(nanoseconds duration) {
  return absl::StrFormat("%.1f s", std::chrono::duration<double>(duration).count());
}

absl::Status Verdict(const std::string& message, int failure) {
  // A number from the network must not turn a failure into success.
  if (failure == static_cast<int>(Failure::kNone)) failure = static_cast<int>(Failure::kOther);
  return WithFailure(absl::AbortedError(message), static_cast<Failure>(failure));
}

}  // namespace

// One connection. Its state is guarded by the client's lock.
class GrpcControlClient::Stream final
    : public grpc::ClientBidiReactor<control::Report, control::Directive> {
 public:
  Stream(GrpcControlClient& client, control::Report registration) : client_(client) {
    queue_.push_back(std::move(registration));
    client_.stub_->async()->Connect(&context_, this);
    // Until the read side closes, writes may start from any thread.
    AddHold();
    StartRead(&incoming_);
    Pump();
    StartCall();
  }

  void OnReadDone(bool ok) override {
    {
      MutexLock lock(client_.mutex_);
      if (ok) {
        answered_ = true;
        client_.OnDirective(incoming_);
        StartRead(&incoming_);
        return;
      }
      read_closed_ = true;
    }
    RemoveHold();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(client_.mutex_);
    writing_ = false;
    if (!ok) queue_.clear();
    Pump();
  }

  void OnDone(const grpc::Status& status) override {
    MutexLock lock(client_.mutex_);
    done_ = true;
    status_ = status;
    client_.OnStreamDone(status);
  }

  void Enqueue(control::Report report) {
    queue_.push_back(std::move(report));
    Pump();
  }

  // Sends what is queued, then says that nothing more will come.
  void Leave() {
    leaving_ = true;
    Pump();
  }

  void Pump() {
    if (writing_ || read_closed_ || left_) return;
    if (!queue_.empty()) {
      writing_ = true;
      outgoing_ = std::move(queue_.front());
      queue_.pop_front();
      StartWrite(&outgoing_);
    } else if (leaving_) {
      left_ = true;
      StartWritesDone();
    }
  }

  void Cancel() { context_.TryCancel(); }

  size_t queued() const { return queue_.size(); }
  bool answered() const { return answered_; }
  bool done() const { return done_; }
  const grpc::Status& status() const { return status_; }

 private:
  GrpcControlClient& client_;
  grpc::ClientContext context_;
  control::Directive incoming_;
  control::Report outgoing_;
  std::deque<control::Report> queue_;
  grpc::Status status_;
  bool answered_ = false;
  bool writing_ = false;
  bool read_closed_ = false;
  bool leaving_ = false;
  bool left_ = false;
  bool done_ = false;
};

GrpcControlClient::GrpcControlClient(std::shared_ptr<grpc::Channel> channel,
                                     ControlClientOptions options)
    : stub_(control::Control::NewStub(channel)),
      options_(std::move(options)),
      pulse_(std::clamp<nanoseconds>(options_.peer_timeout / 8, kMinPulse, kMaxPulse)),
      last_heard_(steady_clock::now()),
      last_pulse_(last_heard_),
      pulser_([this] { Pulse(); }) {}

GrpcControlClient::~GrpcControlClient() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  pulser_.join();
  MutexLock lock(mutex_);
  if (stream_ == nullptr) return;
  stream_->Leave();
  const SteadyTime deadline = steady_clock::now() + kLeaveTimeout;
  while (!stream_->done() && steady_clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
  if (!stream_->done()) stream_->Cancel();
  // gRPC ends a cancelled call without the peer's help.
  while (!stream_->done()) changed_.WaitUntil(mutex_, steady_clock::now() + kMaxPulse);
}

absl::StatusOr<control::Roster> GrpcControlClient::Join(const control::Registration& registration,
                                                        SteadyTime deadline) {
  std::string last_error = "no answer";
  while (true) {
    Attempt(registration, deadline);
    MutexLock lock(mutex_);
    if (verdict_) return *verdict_;
    if (roster_) return *roster_;
    const grpc::Status& status = stream_->status();
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
      return NotReached("what answers there is no grapevine coordinator");
    }
    if (!status.error_message().empty()) last_error = status.error_message();
    const SteadyTime retry = steady_clock::now() + kRetryInterval;
    if (retry >= deadline) return NotReached(last_error);
    while (!verdict_ && steady_clock::now() < retry) changed_.WaitUntil(mutex_, retry);
  }
}

void GrpcControlClient::Cancel(absl::Status why) {
  MutexLock lock(mutex_);
  End(std::move(why));
  changed_.NotifyAll();
}

void GrpcControlClient::Attempt(const control::Registration& registration, SteadyTime deadline) {
  control::Report report;
  *report.mutable_registration() = registration;
  MutexLock lock(mutex_);
  last_heard_ = steady_clock::now();
  stream_ = std::make_unique<Stream>(*this, std::move(report));
  while (!stream_->done() && !roster_ && !verdict_) {
    const SteadyTime now = steady_clock::now();
    // Once rank 0 has answered, the gathering is in its hands.
    if (now >= deadline && !stream_->answered()) stream_->Cancel();
    changed_.WaitUntil(mutex_, std::max(deadline, now + kMaxPulse));
  }
}

absl::Status GrpcControlClient::NotReached(const std::string& last_error) const {
  return WithFailure(
      absl::UnavailableError(absl::StrCat(
          "cannot join the run: rank 0 at ", options_.coordinator, ": ", last_error,
          "; is it started, are MASTER_ADDR and MASTER_PORT its address, do both sides use TLS "
          "or neither? (--rendezvous-timeout gives more time)")),
      Failure::kRendezvous);
}

void GrpcControlClient::Start(Callbacks callbacks, Snapshot snapshot) {
  MutexLock lock(mutex_);
  CHECK(roster_.has_value() && !started_) << "Start comes once, after Join";
  callbacks_ = std::move(callbacks);
  snapshot_ = std::move(snapshot);
  started_ = true;
  changed_.NotifyAll();
}

absl::Status GrpcControlClient::Send(control::Report report) {
  MutexLock lock(mutex_);
  if (verdict_ && !verdict_->ok()) return *verdict_;
  if (verdict_ || !roster_) return absl::FailedPreconditionError("no run is going on");
  if (stream_->queued() >= kMaxQueued) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxQueued, " reports wait for rank 0 at ", options_.coordinator));
  }
  stream_->Enqueue(std::move(report));
  return absl::OkStatus();
}

absl::Status GrpcControlClient::AwaitVerdict(control::Failure failure, SteadyTime deadline) {
  const absl::Status own = Verdict(failure.message(), failure.failure());
  control::Report report;
  *report.mutable_failure() = std::move(failure);
  // When it cannot be sent, the run is over, or rank 0 hears nobody.
  if (const absl::Status sent = Send(std::move(report)); !sent.ok()) {
    return absl::IsAborted(sent) ? sent : own;
  }
  MutexLock lock(mutex_);
  while (!verdict_ && steady_clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
  return verdict_ && !verdict_->ok() ? *verdict_ : own;
}

void GrpcControlClient::OnDirective(const control::Directive& directive) {
  last_heard_ = steady_clock::now();
  switch (directive.kind_case()) {
    case control::Directive::kRoster:
      roster_ = directive.roster();
      break;
    case control::Directive::kRoundLimit:
      new_limit_ = directive.round_limit();
      break;
    case control::Directive::kAbort:
      End(Verdict(directive.abort().message(), directive.abort().failure()));
      break;
    case control::Directive::kFinish:
      End(absl::OkStatus());
      break;
    default:
      break;
  }
  changed_.NotifyAll();
}

void GrpcControlClient::OnStreamDone(const grpc::Status& status) {
  if (roster_ && !verdict_ && !stopped_) {
    End(RankZeroLost(absl::StrCat("died: its connection broke (",
                                  status.ok() ? "closed" : status.error_message(), ")")));
  }
  changed_.NotifyAll();
}

void GrpcControlClient::End(absl::Status verdict) {
  if (verdict_) return;
  verdict_ = std::move(verdict);
  if (stream_ != nullptr) stream_->Leave();
}

absl::Status GrpcControlClient::RankZeroLost(const std::string& how) const {
  return Verdict(absl::StrCat("rank 0 (the coordinator at ", options_.coordinator, ") ", how,
                              "; its own output or its host's log says why"),
                 static_cast<int>(Failure::kPeerLost));
}

void GrpcControlClient::Pulse() {
  MutexLock lock(mutex_);
  while (!stopped_) {
    if (Deliver()) continue;
    const SteadyTime now = steady_clock::now();
    if (now >= last_pulse_ + pulse_) {
      CheckSilence(now);
      last_pulse_ = now;
      Beat();
    }
    changed_.WaitUntil(mutex_, last_pulse_ + pulse_);
  }
}

void GrpcControlClient::CheckSilence(SteadyTime now) {
  // When this process itself stood still, what rank 0 said may still be unread.
  const nanoseconds gap = now - last_pulse_;
  if (gap >= options_.peer_timeout / 2) last_heard_ += gap;
  const nanoseconds silence = now - last_heard_;
  if (silence < options_.peer_timeout || stream_ == nullptr || !stream_->answered()) return;
  if (roster_) {
    End(RankZeroLost(absl::StrCat(
        "is silent: last heard ", Seconds(silence),
        " ago; its process is stopped, or its host or network is down (--peer-timeout=",
        std::chrono::duration<double>(options_.peer_timeout).count(),
        "s is how long that may last)")));
    changed_.NotifyAll();
  }
  stream_->Cancel();
}

void GrpcControlClient::Beat() {
  if (verdict_ || stream_ == nullptr || stream_->done()) return;
  control::Report report;
  report.mutable_heartbeat();
  if (started_) {
    mutex_.unlock();
    *report.mutable_heartbeat() = snapshot_();
    mutex_.lock();
  }
  // What waits already shows as well that this node is alive.
  if (stream_->queued() == 0) stream_->Enqueue(std::move(report));
}

bool GrpcControlClient::Deliver() {
  if (!started_ || verdict_delivered_) return false;
  if (new_limit_) {
    const control::RoundLimit moved = *std::exchange(new_limit_, std::nullopt);
    mutex_.unlock();
    callbacks_.on_round_limit(moved.limit(), moved.final());
    mutex_.lock();
    return true;
  }
  if (!verdict_) return false;
  verdict_delivered_ = true;
  const absl::Status verdict = *verdict_;
  mutex_.unlock();
  if (verdict.ok()) {
    callbacks_.on_finish();
  } else {
    callbacks_.on_abort(verdict);
  }
  mutex_.lock();
  return true;
}

}  // namespace grapevine
