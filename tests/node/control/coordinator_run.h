// A coordinator under test: reports and time go in as the test says, what it says is collected.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_CONTROL_COORDINATOR_RUN_H_
#define GRAPEVINE_TESTS_NODE_CONTROL_COORDINATOR_RUN_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "node/control/control_protocol.h"
#include "node/control/coordinator.h"

namespace grapevine {

inline constexpr std::chrono::milliseconds kTick{100};

inline control::Registration RegistrationOf(Rank rank, Rank world_size) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_build("0.3.0 (4d5e6f)");
  registration.set_rank(rank);
  registration.set_world_size(world_size);
  registration.set_nonce(1000 + static_cast<uint64_t>(rank));
  registration.set_address("10.0.0." + std::to_string(rank + 1) + ":7000");
  for (const auto& [name, value] :
       {std::pair("topology", "ring"), std::pair("algorithm", "dpsgd"), std::pair("lr", "0.1")}) {
    control::Agreement* agreement = registration.add_agreements();
    agreement->set_name(name);
    agreement->set_value(value);
  }
  return registration;
}

// Who takes over what rank 0 has had, in a run of so many.
inline SuccessionOptions SuccessionIn(Rank world_size) {
  SuccessionOptions succession{.lost = 0};
  for (Rank rank = 0; rank < world_size; ++rank) {
    succession.addresses.push_back(RegistrationOf(rank, world_size).address());
  }
  return succession;
}

// A node's of the run that its successor has.
inline control::Registration ComesToSuccessor(Rank rank, Rank world_size) {
  control::Registration registration = RegistrationOf(rank, world_size);
  registration.set_run_id("run-1");
  registration.set_call(7);
  registration.mutable_standing()->mutable_limit()->set_limit(100);
  return registration;
}

// A coordinator of n nodes; session r belongs to rank r.
class CoordinatorRun : public ::testing::Test {
 protected:
  void Begin(Rank n, std::chrono::milliseconds peer_timeout = std::chrono::milliseconds(4000),
             bool proven = false) {
    n_ = n;
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(0, n),
                                            .proven = proven,
                                            .run_id = "run-1",
                                            .round_limit = 100,
                                            .resilient = resilient_,
                                            .min_nodes = min_nodes_,
                                            .begin_nodes = begin_nodes_,
                                            .waits = waits_,
                                            .workers = workers_,
                                            .role_moves = role_moves_,
                                            .checkpoints = checkpoints_,
                                            .open_ended = open_ended_,
                                            .settles_last = settles_last_,
                                            .rendezvous_timeout = std::chrono::milliseconds(20000),
                                            .peer_timeout = peer_timeout,
                                            .min_peer_timeout = min_peer_timeout_,
                                            .step_timeout = std::chrono::milliseconds(60000)},
                         now_);
  }

  void Register(SessionId session, const control::Registration& registration) {
    control::Report report;
    *report.mutable_registration() = registration;
    coordinator_->OnReport(session, report, now_);
    Collect();
  }

  void BeginRunning(Rank n,
                    std::chrono::milliseconds peer_timeout = std::chrono::milliseconds(4000)) {
    notices_.clear();
    lost_.clear();
    all_done_ = 0;
    ended_.clear();
    Begin(n, peer_timeout);
    for (Rank rank = 0; rank < n; ++rank) Register(rank, RegistrationOf(rank, n));
    ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
    directives_.clear();
  }

  void Beat(Rank rank, Round round, std::vector<Rank> waiting_for = {}, int64_t progress = 0) {
    control::Report report;
    control::Heartbeat* beat = report.mutable_heartbeat();
    beat->set_round(round);
    beat->set_progress(progress);
    beat->set_state(waiting_for.empty() ? "computing" : "waiting");
    for (const Rank awaited : waiting_for) beat->add_waiting_for(awaited);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }

  void Fail(Rank reporter, Rank culprit, const std::string& message, Failure failure) {
    control::Report report;
    report.mutable_failure()->set_culprit(culprit);
    report.mutable_failure()->set_message(message);
    report.mutable_failure()->set_failure(static_cast<int>(failure));
    coordinator_->OnReport(reporter, report, now_);
    Collect();
  }

  // It cannot reach the other, or the other has sent what cannot be.
  void SayLost(Rank reporter, Rank lost, bool proven = false) {
    control::Report report;
    control::Failure* failure = report.mutable_failure();
    failure->set_culprit(lost);
    failure->set_message("rank " + std::to_string(reporter) + " lost rank " + std::to_string(lost));
    failure->set_failure(static_cast<int>(Failure::kPeerLost));
    failure->set_proven(proven);
    coordinator_->OnReport(reporter, report, now_);
    Collect();
  }

  void Done(Rank rank, Round limit) {
    control::Report report;
    report.mutable_done()->set_round_limit(limit);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }

  void Promise(Rank rank, uint32_t ballot, Round round) {
    control::Report report;
    report.mutable_promise()->set_ballot(ballot);
    report.mutable_promise()->set_round(round);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }
  const control::Directive& Last(Rank rank) { return directives_[rank].back(); }

  // Its process is gone, and so is its connection.
  void LoseProcess(Rank rank) {
    coordinator_->OnClosed(rank, "connection lost", now_);
    coordinator_->OnGone(rank, "nobody listens at its address any more", now_);
  }

  // Lets time pass tick by tick; `beat` runs before each.
  template <typename F>
  void Pass(std::chrono::milliseconds duration, F beat) {
    for (std::chrono::milliseconds passed{0}; passed < duration; passed += kTick) {
      now_ += kTick;
      beat();
      coordinator_->OnTick(now_);
      Collect();
    }
  }
  void Pass(std::chrono::milliseconds duration) {
    Pass(duration, [] {});
  }

  void Collect() {
    Coordinator::Output output = coordinator_->Take();
    for (auto& [session, directive] : output.directives) {
      if (!directive.has_beat()) directives_[session].push_back(directive);
    }
    for (const SessionId session : output.ended) ended_.push_back(session);
    for (const SessionId session : output.replaced) replaced_.push_back(session);
    for (auto& [rank, metrics] : output.metrics) metrics_.emplace_back(rank, metrics.round());
    for (auto& notice : output.notices) notices_.push_back(notice);
    for (const Rank rank : output.lost) lost_.push_back(rank);
    for (const auto& newcomer : output.newcomers) newcomers_.push_back(newcomer);
    if (output.called) called_.push_back(*output.called);
    all_done_ += output.all_done;
  }

  std::string Message() const { return std::string(coordinator_->verdict().message()); }
  Failure Class() const { return FailureOf(coordinator_->verdict()); }

  Rank n_ = 0;
  SteadyTime now_{};
  std::optional<Coordinator> coordinator_;
  std::map<SessionId, std::vector<control::Directive>> directives_;
  std::vector<SessionId> ended_;
  std::vector<SessionId> replaced_;
  std::vector<std::pair<Rank, Round>> metrics_;
  std::vector<std::string> notices_;
  std::vector<Rank> lost_;
  std::vector<std::pair<Rank, Round>> newcomers_;
  std::vector<Round> called_;
  std::optional<std::chrono::milliseconds> min_peer_timeout_;
  Rank workers_ = 0;
  bool resilient_ = false;
  std::optional<Rank> min_nodes_;
  Rank begin_nodes_ = 0;
  bool waits_ = false;
  bool role_moves_ = false;
  std::optional<CheckpointCallsOptions> checkpoints_;
  std::optional<RenewalsOptions> renewals_;
  bool open_ended_ = false;
  bool settles_last_ = false;
  int all_done_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_CONTROL_COORDINATOR_RUN_H_
