#include "node/control/grpc_coordinator_service.h"

#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "node/control/control_protocol.h"
#include "node/identity/host_address.h"
#include "node/server/grpc_credentials.h"
#include "system/boot_clock.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

using Reactor = grpc::ServerBidiReactor<control::Report, control::Directive>;

constexpr milliseconds kMinTick{10};
constexpr milliseconds kMaxTick{1000};
// A little less than the longest tick, which would otherwise be missed.
constexpr milliseconds kBetweenStandings{900};
// The time that an unauthenticated caller has to register.
constexpr milliseconds kPatience = Coordinator::kPatience;

// Records a node's source address, and fills in the host that it left out of its advertised
// address.
void CompleteAddress(std::string_view peer, control::Registration* registration) {
  registration->set_seen_from(HostOfConnection(peer));
  absl::StatusOr<HostAddress> address = ParseHostAddress(registration->address());
  if (!address.ok() || !address->host.empty()) return;
  address->host = registration->seen_from();
  registration->set_address(FormatHostAddress(*address));
}

// The most bytes of a rank's number in a list.
constexpr size_t kReportPerRank = 10;

CoordinatorOptions Judging(CoordinatorOptions options, const RunToken& token) {
  options.proven = token.given();
  return options;
}

// All nodes may come at once, and a coordinator that takes a run over knows where they are.
UnprovenCallers ForStrangers(const CoordinatorOptions& options) {
  const size_t places =
      static_cast<size_t>(options.own.world_size()) + GrpcCoordinatorService::kMaxUnauthenticated;
  UnprovenCallers callers(places, places);
  if (!options.succession) return callers;
  Rank rank = 0;
  for (const std::string& address : options.succession->addresses) callers.Expect(rank++, address);
  return callers;
}

bool Begins(const Coordinator::Output& output) {
  return std::ranges::any_of(output.directives,
                             [](const auto& sent) { return sent.second.has_roster(); });
}

}  // namespace

// One stream. Its state is guarded by the service's lock.
class GrpcCoordinatorService::Session final : public Reactor {
 public:
  Session(GrpcCoordinatorService& service, grpc::CallbackServerContext& context, SessionId id,
          SteadyTime now)
      : id(id), patience_until(now + kPatience), service_(service), context_(context) {
    StartRead(&report);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return service_.OnReadClosed(*this);
    if (service_.OnReport(*this)) StartRead(&report);
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(service_.mutex_);
    writing_ = false;
    if (!ok) queue_.clear();
    Pump();
  }

  void OnDone() override {
    service_.OnDone(*this);
    delete this;
  }

  void Enqueue(control::Directive directive) {
    // A Beat adds nothing to the directives queued before it, except for what has been received.
    if (directive.has_beat() && !queue_.empty()) {
      return queue_.back().set_received(directive.received());
    }
    if (queue_.size() >= kMaxQueued) return Cancel();
    queue_.push_back(std::move(directive));
    Pump();
  }

  void OnReadClosed() {
    read_closed_ = true;
    queue_.clear();  // no peer is left to read it
    Pump();
  }

  // Reads nothing more; the stream ends when what is queued has been written.
  void StopReading() {
    read_closed_ = true;
    Pump();
  }

  // Ends the stream of a caller that has not registered; nothing has been written yet.
  void Refuse(grpc::Status why) {
    finished_ = true;
    Finish(std::move(why));
  }

  void Cancel() { context_.TryCancel(); }
  std::string peer() const { return context_.peer(); }
  bool MayBe(Rank rank, const RankNames& names) const { return IsCertified(names, context_, rank); }
  bool cancelled() const { return context_.IsCancelled(); }
  bool finished() const { return finished_; }

  const SessionId id;
  control::Report report;     // between OnReadDone and the next StartRead
  bool registered = false;    // whether it has said which rank it is
  bool ended = false;         // whether it has got its last directive
  SteadyTime patience_until;  // holds while !registered or ended

 private:
  // Writes the next directive, or ends the stream once the client has.
  void Pump() {
    if (writing_ || finished_) return;
    if (!queue_.empty()) {
      writing_ = true;
      outgoing_ = std::move(queue_.front());
      queue_.pop_front();
      StartWrite(&outgoing_);
    } else if (read_closed_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }

  GrpcCoordinatorService& service_;
  grpc::CallbackServerContext& context_;
  std::deque<control::Directive> queue_;
  control::Directive outgoing_;
  bool writing_ = false;
  bool read_closed_ = false;
  bool finished_ = false;
};

GrpcCoordinatorService::GrpcCoordinatorService(CoordinatorOptions options, Sinks sinks,
                                               RunToken token, RankNames names)
    : sinks_(std::move(sinks)),
      token_(std::move(token)),
      names_(std::move(names)),
      tick_(std::clamp<nanoseconds>(LeastSilence(options) / 8, kMinTick, kMaxTick)),
      max_report_(kMaxReport + kReportPerRank * static_cast<size_t>(options.own.world_size())),
      unproven_(ForStrangers(options)),
      coordinator_(Judging(std::move(options), token_), TimeSinceBoot()),
      watch_([this](Rank rank) { OnPortClosed(rank); }),
      ticker_([this] { TickUntilStopped(); }) {}

GrpcCoordinatorService::~GrpcCoordinatorService() {
  {
    MutexLock lock(mutex_);
    CHECK(sessions_.empty()) << "the server must be shut down first";
    stopped_ = true;
    changed_.NotifyAll();
  }
  ticker_.join();
}

void GrpcCoordinatorService::OnCertain() {
  MutexLock lock(mutex_);
  Judge(TimeSinceBoot());
  Flush();
}

Coordinator& GrpcCoordinatorService::Judge(SteadyTime now) {
  coordinator_.OnTenure(sinks_.is_certain(), now);
  return coordinator_;
}

void GrpcCoordinatorService::ExtendRoundLimit(Round limit, bool final, int64_t growth) {
  MutexLock lock(mutex_);
  Judge(TimeSinceBoot()).ExtendRoundLimit(limit, final, growth);
  Flush();
}

void GrpcCoordinatorService::OnCheckpoint(Round round) {
  MutexLock lock(mutex_);
  coordinator_.OnCheckpoint(round);
  Flush();
}

void GrpcCoordinatorService::Finish() {
  MutexLock lock(mutex_);
  coordinator_.Finish();
  Flush();
}

void GrpcCoordinatorService::End(const absl::Status& why) {
  MutexLock lock(mutex_);
  coordinator_.End(why);
  Flush();
}

void GrpcCoordinatorService::CannotBegin(const absl::Status& why) {
  MutexLock lock(mutex_);
  coordinator_.CannotBegin(why);
  Flush();
}

bool GrpcCoordinatorService::AwaitDeparture() {
  MutexLock lock(mutex_);
  const SteadyTime deadline = steady_clock::now() + coordinator_.Patience();
  while (!AllClosed()) {
    if (!changed_.WaitUntil(mutex_, deadline)) return AllClosed();
  }
  return true;
}

absl::Status GrpcCoordinatorService::verdict() const {
  MutexLock lock(mutex_);
  return coordinator_.verdict();
}

std::optional<absl::Status> GrpcCoordinatorService::Ended() const {
  MutexLock lock(mutex_);
  const bool over = coordinator_.phase() == Coordinator::Phase::kFinished ||
                    coordinator_.phase() == Coordinator::Phase::kAborted;
  if (!over || coordinator_.resigned()) return std::nullopt;
  return coordinator_.verdict();
}

Reactor* GrpcCoordinatorService::Admit(grpc::CallbackServerContext* context) {
  MutexLock lock(mutex_);
  const auto [id, displaced] = unproven_.Enter(HostOfConnection(context->peer()));
  auto* session = new Session(*this, *context, id, TimeSinceBoot());
  sessions_[id] = session;
  if (displaced) Displace(*sessions_.at(*displaced));
  return session;
}

void GrpcCoordinatorService::Displace(Session& session) {
  // A caller that was told that it is wrong here has heard so, or does not listen.
  if (session.registered || session.finished()) return session.Cancel();
  session.Refuse(
      grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many connections to rank 0"));
}

std::string GrpcCoordinatorService::Unheard(const Session& session) const {
  const size_t size = session.report.ByteSizeLong();
  if (size > max_report_) {
    return absl::StrCat("sent ", size, " bytes, where a report has at most ", max_report_);
  }
  // A later registration must also be the caller's own: once a connection is replaced, it belongs
  // to another caller.
  if (session.registered && !session.report.has_registration()) return "";
  if (session.ended) return "registers on a connection that another has replaced";
  if (!session.report.has_registration()) return "did not register";
  const control::Registration& registration = session.report.registration();
  if (!session.MayBe(registration.rank(), names_)) {
    return absl::StrCat("calls itself rank ", registration.rank(),
                        ", but its certificate does not");
  }
  if (IsProven(registration, token_)) return "";
  return absl::StrCat("calls itself rank ", registration.rank(), ", but shows ",
                      registration.proof().empty() ? "no" : "another", " token");
}

bool GrpcCoordinatorService::OnReport(Session& session) {
  MutexLock lock(mutex_);
  if (session.finished()) return false;
  if (const std::string why = Unheard(session); !why.empty()) {
    LOG_EVERY_T(WARNING, 1) << "rejected a caller from " << session.peer() << ": " << why;
    // The stream of a registered node breaks, which the coordinator can judge.
    if (session.registered) {
      session.Cancel();
    } else {
      session.Refuse(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "refused"));
    }
    return session.registered;
  }
  const bool registers = session.report.has_registration();
  if (registers) CompleteAddress(session.peer(), session.report.mutable_registration());
  session.registered = true;
  const SteadyTime now = TimeSinceBoot();
  Judge(now).OnReport(session.id, session.report, now);
  Flush();
  const bool refused = registers && session.ended && !coordinator_.IsMember(session.id);
  if (refused) {
    session.StopReading();
  } else if (registers) {
    unproven_.Leave(session.id);
    unproven_.Know(session.report.registration().rank(), HostOfConnection(session.peer()));
  }
  return !refused;
}

void GrpcCoordinatorService::OnReadClosed(Session& session) {
  MutexLock lock(mutex_);
  const SteadyTime now = TimeSinceBoot();
  if (session.cancelled()) {
    Judge(now).OnClosed(session.id, "connection lost", now);
  } else {
    Judge(now).OnLeft(session.id, now);
  }
  Flush();
  session.OnReadClosed();
}

void GrpcCoordinatorService::OnPortClosed(Rank rank) {
  MutexLock lock(mutex_);
  const SteadyTime now = TimeSinceBoot();
  Judge(now).OnGone(rank, PortWatch::kClosed, now);
  Flush();
  changed_.NotifyAll();
}

void GrpcCoordinatorService::OnDone(Session& session) {
  MutexLock lock(mutex_);
  sessions_.erase(session.id);
  unproven_.Leave(session.id);
  changed_.NotifyAll();
}

void GrpcCoordinatorService::TickUntilStopped() {
  MutexLock lock(mutex_);
  SteadyTime next = steady_clock::now();
  while (!stopped_) {
    if (steady_clock::now() >= next) {
      const SteadyTime now = TimeSinceBoot();
      Judge(now).OnTick(now);
      Flush();
      CancelOverdue(now);
      ShowStanding(now);
      next = steady_clock::now() + tick_;
    }
    changed_.WaitUntil(mutex_, next);
  }
}

void GrpcCoordinatorService::ShowStanding(SteadyTime now) {
  if (!sinks_.on_standing || now < next_standing_) return;
  next_standing_ = now + kBetweenStandings;
  if (const auto standing = coordinator_.Standing()) sinks_.on_standing(*standing);
}

void GrpcCoordinatorService::CancelOverdue(SteadyTime now) {
  for (const auto& [id, session] : sessions_) {
    if ((!session->registered || session->ended) && now >= session->patience_until) {
      session->Cancel();
    }
  }
}

Coordinator::Output GrpcCoordinatorService::Decided() {
  Coordinator::Output decided = coordinator_.Take();
  if (begun_ || !Begins(decided)) return decided;
  begun_ = true;
  const absl::Status status = sinks_.on_gathered();
  if (status.ok()) return decided;
  coordinator_.End(status);
  Coordinator::Output instead = coordinator_.Take();
  decided.directives = std::move(instead.directives);
  decided.ended.insert(decided.ended.end(), instead.ended.begin(), instead.ended.end());
  return decided;
}

void GrpcCoordinatorService::Flush() {
  Coordinator::Output output = Decided();
  for (auto& [id, directive] : output.directives) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second->Enqueue(std::move(directive));
  }
  for (const SessionId id : output.ended) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    found->second->ended = true;
    found->second->patience_until = TimeSinceBoot() + coordinator_.Patience();
  }
  for (const SessionId id : output.replaced) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    found->second->ended = true;
    // At its other end, nobody may be left to close it.
    found->second->Cancel();
  }
  watch_.Watch(coordinator_.absent());
  for (const auto& [rank, metrics] : output.metrics) sinks_.on_metrics(rank, metrics);
  if (output.called) sinks_.on_called(*output.called);
  for (const auto& [rank, part] : output.parts) {
    if (sinks_.on_part) sinks_.on_part(rank, part);
  }
  for (const Rank lost : output.lost) sinks_.on_lost(lost);
  for (const auto& [rank, from] : output.newcomers) sinks_.on_newcomer(rank, from);
  for (const std::string& notice : output.notices) sinks_.on_notice(notice);
  if (output.all_done) sinks_.on_all_done();
}

bool GrpcCoordinatorService::AllClosed() const {
  if (coordinator_.resigned()) return true;  // the others go on elsewhere
  return !coordinator_.AwaitsLatecomers() &&
         std::none_of(sessions_.begin(), sessions_.end(),
                      [](const auto& entry) { return entry.second->registered; });
}

}  // namespace grapevine
