#include "tests/node/whole_node/simulated_coordinator.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "node/control/control_protocol.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// As GrpcCoordinatorService's.
constexpr milliseconds kMinTick{10};
constexpr milliseconds kMaxTick{1000};

}  // namespace

SimulatedCoordinator::SimulatedCoordinator(CoordinatorOptions options, RunToken token,
                                           SimulatedNetwork* network,
                                           const std::vector<Process*>* processes, Sinks sinks)
    : process_((*processes)[options.own.rank()]),
      token_(std::move(token)),
      sinks_(std::move(sinks)),
      tick_(std::clamp<nanoseconds>(LeastSilence(options) / 8, kMinTick, kMaxTick)),
      watch_(network, process_, processes,
             [this](Rank rank) {
               Judge().OnGone(rank, "nobody listens there any more", process_->now());
               Flush();
             }),
      coordinator_(std::move(options), process_->now()) {
  network->Listen(process_, kService, [this](std::shared_ptr<Connection> connection) {
    Accept(std::move(connection));
  });
  ScheduleTick();
}

void SimulatedCoordinator::Accept(std::shared_ptr<Connection> connection) {
  const SessionId id = next_++;
  sessions_[id] = {.connection = connection,
                   .patience_until = process_->now() + Coordinator::kPatience};
  connection->Read(Connection::End::kCalled,
                   {.on_message = [this, id](const std::string& bytes) { OnMessage(id, bytes); },
                    .on_closed = [this, id](const absl::Status& why) { OnClosed(id, why); }});
}

void SimulatedCoordinator::OnMessage(SessionId id, const std::string& bytes) {
  control::Report report;
  CHECK(report.ParseFromString(bytes));
  Session& session = sessions_.at(id);
  if (report.has_registration() && !IsProven(report.registration(), token_)) {
    return session.connection->Finish(Connection::End::kCalled,
                                      absl::UnauthenticatedError("refused"));
  }
  if (report.has_registration()) session.registered = true;
  Judge().OnReport(id, report, process_->now());
  Flush();
}

void SimulatedCoordinator::OnClosed(SessionId id, const absl::Status& why) {
  if (why.ok()) {
    Judge().OnLeft(id, process_->now());
  } else {
    Judge().OnClosed(id, "connection lost", process_->now());
  }
  Flush();
  sessions_.at(id).connection->Finish(Connection::End::kCalled, absl::OkStatus());
  sessions_.erase(id);
}

Coordinator& SimulatedCoordinator::Judge() {
  coordinator_.OnTenure(sinks_.is_certain(), process_->now());
  return coordinator_;
}

void SimulatedCoordinator::ScheduleTick() {
  process_->After(tick_, [this] {
    Judge().OnTick(process_->now());
    Flush();
    for (const auto& [id, session] : sessions_) {
      if ((session.registered && !session.ended) || process_->now() < session.patience_until) {
        continue;
      }
      session.connection->Orphan(Connection::End::kCalled, absl::CancelledError("overdue"));
    }
    ScheduleTick();
  });
}

void SimulatedCoordinator::ExtendRoundLimit(Round limit, bool final, int64_t growth) {
  Judge().ExtendRoundLimit(limit, final, growth);
  Flush();
}

void SimulatedCoordinator::OnCheckpoint(Round round) {
  coordinator_.OnCheckpoint(round);
  Flush();
}

void SimulatedCoordinator::Flush() {
  Coordinator::Output output = coordinator_.Take();
  for (const auto& [id, directive] : output.directives) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    // A beat says nothing that what waits before it does not.
    if (directive.has_beat() && found->second.connection->Waits(Connection::End::kCalled)) continue;
    found->second.connection->Write(Connection::End::kCalled, directive.SerializeAsString(), {},
                                    {});
  }
  for (const SessionId id : output.ended) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    found->second.ended = true;
    found->second.patience_until = process_->now() + coordinator_.Patience();
  }
  for (const SessionId id : output.replaced) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    found->second.ended = true;
    found->second.patience_until = process_->now();
  }
  for (const auto& [rank, metrics] : output.metrics) sinks_.on_metrics(rank, metrics);
  if (output.called) sinks_.on_called(*output.called);
  for (const auto& [rank, part] : output.parts) sinks_.on_part(rank, part);
  for (const Rank lost : output.lost) sinks_.on_lost(lost);
  for (const auto& [rank, from] : output.newcomers) sinks_.on_newcomer(rank, from);
  for (const std::string& notice : output.notices) sinks_.on_notice(notice);
  std::set<Rank> absent;
  for (const auto& [rank, address] : coordinator_.absent()) absent.insert(rank);
  watch_.Watch(std::move(absent));
  if (output.all_done) sinks_.on_all_done();
}

void SimulatedCoordinator::Finish() {
  coordinator_.Finish();
  Flush();
}

bool SimulatedCoordinator::AllClosed() const {
  if (coordinator_.resigned()) return true;  // the others go on elsewhere
  return !coordinator_.AwaitsLatecomers() &&
         std::none_of(sessions_.begin(), sessions_.end(),
                      [](const auto& entry) { return entry.second.registered; });
}

}  // namespace grapevine::testing
