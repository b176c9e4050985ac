#include "node/control/grpc_control_client.h"

#include <glog/logging.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/control/control_protocol.h"
#include "system/boot_clock.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Waits end by a notification; the deadline only bounds a lost one.
constexpr milliseconds kMaxWait{1000};
constexpr milliseconds kRetryInterval{100};
constexpr milliseconds kLeaveTimeout{1000};
constexpr milliseconds kCancelTimeout{5000};

ControlLineOptions With(ControlLineOptions options, bool mended) {
  options.mended = mended;
  return options;
}

// Holds a channel until the process ends. gRPC ends the threads that serve callbacks when the last
// channel goes. If that happened as a call ends on one of these threads, the thread would wait for
// itself.
void KeepForGood(std::shared_ptr<grpc::Channel> channel) {
  static Mutex mutex;
  static auto* const kept = new std::set<std::shared_ptr<grpc::Channel>>;
  MutexLock lock(mutex);
  kept->insert(std::move(channel));
}

}  // namespace

// One connection. Its state is guarded by the client's lock.
class GrpcControlClient::Stream final
    : public grpc::ClientBidiReactor<control::Report, control::Directive> {
 public:
  // The client outlives the stream, unless it abandons it. `first` are the first reports.
  Stream(GrpcControlClient& client, std::shared_ptr<grpc::Channel> channel,
         std::deque<control::Report> first)
      : client_(client),
        channel_(std::move(channel)),
        stub_(control::Control::NewStub(channel_)),
        queue_(std::move(first)) {
    stub_->async()->Connect(&context_, this);
    // Until the read side closes, writes may start from any thread.
    AddHold();
    StartRead(&incoming_);
    Pump();
    StartCall();
  }

  void OnReadDone(bool ok) override {
    {
      MutexLock alone(calls_->mutex);
      if (!calls_->abandoned) {
        MutexLock lock(client_.mutex_);
        if (ok) {
          client_.OnDirective(incoming_);
          StartRead(&incoming_);
          return;
        }
        read_closed_ = true;
      }
    }
    RemoveHold();
  }

  void OnWriteDone(bool ok) override {
    MutexLock alone(calls_->mutex);
    if (calls_->abandoned) return;
    MutexLock lock(client_.mutex_);
    writing_ = false;
    if (!ok) queue_.clear();
    Pump();
  }

  void OnDone(const grpc::Status& status) override {
    // The client may delete this stream as soon as it knows.
    const std::shared_ptr<Calls> calls = calls_;
    {
      MutexLock alone(calls->mutex);
      calls->over = true;
      if (!calls->abandoned) {
        MutexLock lock(client_.mutex_);
        done_ = true;
        status_ = status;
        client_.OnStreamDone(status);
        return;
      }
    }
    delete this;
  }

  // Abandons a stream that does not end: from now on it leaves its client alone, and deletes itself
  // when it ends. Must not be called under the client's lock.
  static void Abandon(Stream* stream) {
    KeepForGood(stream->channel_);
    const std::shared_ptr<Calls> calls = stream->calls_;
    MutexLock alone(calls->mutex);
    calls->abandoned = true;
    if (calls->over) delete stream;
  }

  void Enqueue(control::Report report) {
    if (read_closed_) return;
    queue_.push_back(std::move(report));
    Pump();
  }

  // Sends what is queued, then tells the peer that nothing more follows.
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

  void Cancel() {
    if (!cancelled_) cancelled_ = steady_clock::now();
    context_.TryCancel();
  }

  bool empty() const { return queue_.empty(); }
  bool done() const { return done_; }
  // gRPC ends a cancelled call without the peer's help, but not without threads.
  bool hangs(SteadyTime now) const {
    return cancelled_ && !done_ && now >= *cancelled_ + kCancelTimeout;
  }
  const grpc::Status& status() const { return status_; }

 private:
  // Callbacks come one at a time, and never to a client that no longer exists.
  struct Calls {
    Mutex mutex;  // taken before the client's
    bool abandoned ABSL_GUARDED_BY(mutex) = false;
    bool over ABSL_GUARDED_BY(mutex) = false;
  };
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  GrpcControlClient& client_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<control::Control::Stub> stub_;
  grpc::ClientContext context_;
  control::Directive incoming_;
  control::Report outgoing_;
  std::deque<control::Report> queue_;
  grpc::Status status_;
  bool writing_ = false;
  bool read_closed_ = false;
  bool leaving_ = false;
  bool left_ = false;
  bool done_ = false;
  std::optional<SteadyTime> cancelled_;
};

GrpcControlClient::GrpcControlClient(std::shared_ptr<grpc::Channel> channel,
                                     ControlLineOptions options, RunToken token, Dial dial)
    : channel_(std::move(channel)),
      coordinator_(options.coordinator),
      token_(std::move(token)),
      dial_(std::move(dial)),
      line_(With(std::move(options), dial_ != nullptr), TimeSinceBoot()),
      watch_([this](Rank rank) { OnPortClosed(rank); }),
      pulser_([this] { Pulse(); }) {}

GrpcControlClient::~GrpcControlClient() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  pulser_.join();
  if (Stream* const stream = TakeUnended()) {
    LOG(WARNING) << "gRPC does not end the stream to rank 0 at " << coordinator_;
    Stream::Abandon(stream);
  }
}

GrpcControlClient::Stream* GrpcControlClient::TakeUnended() {
  MutexLock lock(mutex_);
  if (stream_ == nullptr) return nullptr;
  stream_->Leave();
  if (AwaitDone(steady_clock::now() + kLeaveTimeout)) return nullptr;
  stream_->Cancel();
  if (AwaitDone(steady_clock::now() + kCancelTimeout)) return nullptr;
  return stream_.release();
}

bool GrpcControlClient::AwaitDone(SteadyTime deadline) {
  while (!stream_->done() && steady_clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
  return stream_->done();
}

absl::StatusOr<control::Roster> GrpcControlClient::Join(const control::Registration& registration,
                                                        SteadyTime deadline) {
  {
    MutexLock lock(mutex_);
    registration_ = registration;
  }
  std::string last_error = "no answer: its host is down, or a firewall drops what is sent there";
  while (true) {
    const grpc::Status status = Attempt(deadline);
    MutexLock lock(mutex_);
    if (line_.verdict()) return *line_.verdict();
    if (line_.roster()) return *line_.roster();
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
      return NotReached("what answers there is not a grapevine coordinator");
    }
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) return NotBelieved();
    // That this node has given up waiting is no reason to report.
    if (status.error_code() != grpc::StatusCode::CANCELLED && !status.error_message().empty()) {
      last_error = status.error_message();
    }
    const SteadyTime retry = steady_clock::now() + kRetryInterval;
    if (retry >= deadline) return NotReached(last_error);
    while (!line_.verdict() && steady_clock::now() < retry) changed_.WaitUntil(mutex_, retry);
  }
}

void GrpcControlClient::Cancel(control::Failure why) {
  MutexLock lock(mutex_);
  if (line_.verdict()) return;
  line_.End(FailedWith(why.message(), why.failure()));
  if (stream_ == nullptr) return;
  control::Report report;
  *report.mutable_failure() = std::move(why);
  stream_->Enqueue(line_.Add(std::move(report)));
  OnChange();
}

void GrpcControlClient::Connect() {
  std::deque<control::Report> first(1);
  control::Registration& registration = *first[0].mutable_registration();
  registration = registration_;
  line_.OnConnecting(TimeSinceBoot(), &registration);
  if (token_.given()) Prove(token_, &registration);
  first.insert(first.end(), line_.unacknowledged().begin(), line_.unacknowledged().end());
  // The rest of a broken channel would only be waited for.
  std::shared_ptr<grpc::Channel> channel = line_.roster() ? dial_() : channel_;
  if (channel == nullptr) return line_.OnClosed("no channel can be made", TimeSinceBoot());
  stream_ = std::make_unique<Stream>(*this, std::move(channel), std::move(first));
}

nanoseconds GrpcControlClient::UntilConnect() const {
  const bool ends = stream_ != nullptr && !stream_->done();
  if (ends || line_.verdict() || !line_.reconnect_at()) return nanoseconds::max();
  return *line_.reconnect_at() - TimeSinceBoot();
}

void GrpcControlClient::Reconnect() {
  if (UntilConnect() <= nanoseconds(0)) Connect();
}

grpc::Status GrpcControlClient::Attempt(SteadyTime deadline) {
  Stream* hanging = nullptr;
  {
    MutexLock lock(mutex_);
    if (line_.verdict()) return grpc::Status::OK;
    Connect();
    AwaitAnswer(deadline);
    if (!stream_->hangs(steady_clock::now())) return stream_->status();
    hanging = stream_.release();
  }
  Stream::Abandon(hanging);
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gRPC has no thread left to connect with");
}

void GrpcControlClient::AwaitAnswer(SteadyTime deadline) {
  for (SteadyTime now = steady_clock::now();
       !stream_->done() && !stream_->hangs(now) && !line_.roster() && !line_.verdict();
       now = steady_clock::now()) {
    // Once rank 0 has answered, it decides how long to gather.
    if (now >= deadline && !line_.answered()) stream_->Cancel();
    changed_.WaitUntil(mutex_,
                       now < deadline ? std::min(deadline, now + kMaxWait) : now + kMaxWait);
  }
}

absl::Status GrpcControlClient::NotReached(const std::string& last_error) const {
  return WithFailure(
      absl::UnavailableError(absl::StrCat(
          "cannot join the run: rank 0 at ", coordinator_, ": ", last_error,
          "; is it started, are MASTER_ADDR and MASTER_PORT its address, do both sides use TLS, "
          "with certificates of one authority that are valid today, or neither? "
          "(--rendezvous-timeout gives more time)")),
      Failure::kRendezvous);
}

absl::Status GrpcControlClient::NotBelieved() const {
  return WithFailure(absl::UnauthenticatedError(absl::StrCat(
                         "rank 0 at ", coordinator_,
                         " refuses this node, which does not show the run's token; give every "
                         "rank the same --token-file or GRAPEVINE_TOKEN")),
                     Failure::kRendezvous);
}

void GrpcControlClient::Start(Callbacks callbacks, Snapshot snapshot) {
  MutexLock lock(mutex_);
  CHECK(line_.roster().has_value() && !started_) << "Start comes once, after Join";
  callbacks_ = std::move(callbacks);
  snapshot_ = std::move(snapshot);
  started_ = true;
  changed_.NotifyAll();
}

absl::Status GrpcControlClient::Send(control::Report report) {
  MutexLock lock(mutex_);
  return Enqueue(std::move(report), kMaxQueued + kReserve);
}

absl::Status GrpcControlClient::SendBefore(SteadyTime deadline, control::Report report) {
  MutexLock lock(mutex_);
  while (!line_.verdict() && Full(kMaxQueued) && steady_clock::now() < deadline) {
    changed_.WaitUntil(mutex_, deadline);
  }
  return Enqueue(std::move(report), kMaxQueued);
}

bool GrpcControlClient::Full(size_t most) const { return line_.unacknowledged().size() >= most; }

absl::Status GrpcControlClient::Enqueue(control::Report report, size_t most) {
  if (line_.verdict()) return *line_.verdict();
  if (!line_.roster()) return absl::FailedPreconditionError("no run is going on");
  if (Full(most)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(most, " reports wait for rank ", line_.holder(), " at ", line_.coordinator()));
  }
  report = line_.Add(std::move(report));
  // Without a connection, the report waits for the next one.
  if (stream_ != nullptr) stream_->Enqueue(std::move(report));
  return absl::OkStatus();
}

void GrpcControlClient::SetSteps(control::Steps steps) {
  MutexLock lock(mutex_);
  steps_ = std::move(steps);
  SendSteps();
}

void GrpcControlClient::SendSteps() {
  if (!steps_ || Full(kMaxQueued)) return;
  control::Report report;
  *report.mutable_steps() = *std::exchange(steps_, std::nullopt);
  const absl::Status queued = Enqueue(std::move(report), kMaxQueued);
  if (!queued.ok()) VLOG(1) << "steps are not told: " << queued;
}

absl::Status GrpcControlClient::AwaitVerdict(control::Failure failure, SteadyTime deadline) {
  const absl::Status own = FailedWith(failure.message(), failure.failure());
  control::Report report;
  *report.mutable_failure() = std::move(failure);
  // If the report cannot be sent, the run is over, or rank 0 hears nobody.
  if (const absl::Status sent = Send(std::move(report)); !sent.ok()) {
    return absl::IsAborted(sent) ? sent : own;
  }
  MutexLock lock(mutex_);
  // Without a coordinator, no node knows better.
  while (!line_.verdict() && !line_.orphaned() && steady_clock::now() < deadline) {
    changed_.WaitUntil(mutex_, deadline);
  }
  return line_.Conclude(own);
}

bool GrpcControlClient::OthersGoOn() {
  MutexLock lock(mutex_);
  return line_.others_go_on();
}

MembersLately GrpcControlClient::Lately() {
  MutexLock lock(mutex_);
  return line_.lately();
}

void GrpcControlClient::OnDirective(const control::Directive& directive) {
  line_.OnDirective(directive, TimeSinceBoot());
  watch_.Watch({});
  OnChange();
}

void GrpcControlClient::OnStreamDone(const grpc::Status& status) {
  if (!stopped_) {
    line_.OnClosed(status.ok() ? "closed" : status.error_message(), TimeSinceBoot());
    if (line_.interrupted()) watch_.Watch({{line_.holder(), line_.coordinator()}});
  }
  OnChange();
}

void GrpcControlClient::OnPortClosed(Rank rank) {
  MutexLock lock(mutex_);
  if (rank == line_.holder()) line_.OnGone(PortWatch::kClosed);
  watch_.Watch({});
  OnChange();
}

void GrpcControlClient::Adopt(Rank holder, const std::string& address) {
  MutexLock lock(mutex_);
  line_.Adopt(holder, address, TimeSinceBoot());
  orphan_told_ = false;
  OnChange();
}

void GrpcControlClient::EndAsFound(const absl::Status& how) {
  MutexLock lock(mutex_);
  line_.EndAsFound(how);
  OnChange();
}

void GrpcControlClient::End(const absl::Status& why) {
  MutexLock lock(mutex_);
  line_.End(why);
  OnChange();
}

void GrpcControlClient::OnChange() {
  if (line_.verdict() || line_.orphaned()) watch_.Watch({});
  if (line_.verdict() && stream_ != nullptr) stream_->Leave();
  changed_.NotifyAll();
}

void GrpcControlClient::Pulse() {
  MutexLock lock(mutex_);
  SteadyTime next = steady_clock::now() + line_.pulse();
  while (!stopped_) {
    if (Deliver()) continue;
    const SteadyTime now = steady_clock::now();
    Reconnect();
    if (now >= next) {
      next = now + line_.pulse();
      const bool alive = line_.OnPulse(TimeSinceBoot());
      if (!alive && stream_ != nullptr) stream_->Cancel();
      OnChange();
      SendSteps();
      Beat();
    }
    changed_.WaitUntil(mutex_, now + std::min(next - now, UntilConnect()));
  }
}

void GrpcControlClient::Beat() {
  if (line_.verdict() || stream_ == nullptr || stream_->done()) return;
  control::Report report;
  report.mutable_heartbeat();
  if (started_) {
    mutex_.unlock();
    *report.mutable_heartbeat() = snapshot_();
    mutex_.lock();
  }
  report.set_received(line_.received());
  // A queued report shows just as well that this node is alive.
  if (stream_->empty()) stream_->Enqueue(std::move(report));
}

bool GrpcControlClient::Deliver() {
  if (!started_ || verdict_delivered_) return false;
  if (const std::optional<Round> cut = line_.TakeCut()) {
    mutex_.unlock();
    callbacks_.on_cut(*cut);
    mutex_.lock();
    return true;
  }
  if (const std::optional<control::RoundLimit> moved = line_.TakeLimit()) {
    mutex_.unlock();
    callbacks_.on_round_limit(*moved);
    mutex_.lock();
    return true;
  }
  if (const std::optional<Round> checkpoint = line_.TakeCheckpoint()) {
    mutex_.unlock();
    callbacks_.on_checkpoint(*checkpoint);
    mutex_.lock();
    return true;
  }
  if (const std::optional<control::Directive> decree = line_.TakeDecree()) {
    mutex_.unlock();
    callbacks_.on_decree(*decree);
    mutex_.lock();
    return true;
  }
  if (line_.orphaned() && !orphan_told_) {
    orphan_told_ = true;
    const absl::Status why = *line_.orphaned();
    const bool gone = line_.gone();
    mutex_.unlock();
    callbacks_.on_orphaned(why, gone);
    mutex_.lock();
    return true;
  }
  if (!line_.verdict()) return false;
  verdict_delivered_ = true;
  const absl::Status verdict = *line_.verdict();
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
