// What a run's coordinator does, by the number of nodes: messages, bytes and processor time of a
// start, of a heartbeat of every node, of a measured round, and of a view without a lost node; and
// the memory that the nodes take.
//
//   bazel run //bench:coordination_cost [-- NODES...]
//
// The coordinator and the collector of measurements are those of real nodes (node/control), and
// messages are encoded and decoded as they are there; gRPC and its sockets are left out. The other
// nodes are played: they say what those of a ring say.

#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/processor_time.h"
#include "kernels/passes/sketch.h"
#include "node/control/coordinator.h"
#include "node/control/node_metrics.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr int kSettings = 30;  // about as many as nodes compare
constexpr Round kRounds = 1000;

double MemoryInUse() { return static_cast<double>(mallinfo2().uordblks); }

control::Registration RegistrationOf(Rank rank, Rank nodes) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_build("0.3.0 (4d5e6f)");
  registration.set_rank(rank);
  registration.set_world_size(nodes);
  registration.set_nonce(0x123456789abcdef0u + static_cast<uint64_t>(rank));
  registration.set_address(absl::StrCat("node-", rank, ".cluster.example:29500"));
  for (int i = 0; i < kSettings; ++i) {
    control::Agreement& agreement = *registration.add_agreements();
    agreement.set_name(absl::StrCat("setting_", i));
    agreement.set_value("value of it");
  }
  return registration;
}

// What is exchanged with the coordinator, and the processor time for it.
struct Cost {
  int64_t heard = 0, heard_bytes = 0;
  int64_t said = 0, said_bytes = 0;
  double seconds = 0;
};

class PlayedRun {
 public:
  explicit PlayedRun(Rank nodes)
      : nodes_(nodes),
        told_(nodes),
        coordinator_({.own = RegistrationOf(0, nodes),
                      .run_id = "2026-01-02-030405",
                      .round_limit = kRounds,
                      .resilient = true,
                      .peer_timeout = milliseconds(30000)},
                     now_),
        collector_({.size = nodes,
                    .workers = nodes,
                    .evaluated = [](Round) { return false; },
                    .at = [](Round round) { return TrainingPoint{.round = round}; }},
                   [](const RunMetrics&) {}) {}

  bool runs() const { return coordinator_.phase() == Coordinator::Phase::kRunning; }

  Cost Start() {
    return Of([this] {
      for (Rank rank = 0; rank < nodes_; ++rank) {
        control::Report report;
        *report.mutable_registration() = RegistrationOf(rank, nodes_);
        Hear(rank, report);
      }
    });
  }

  // Every node says that it is alive, and hears the same.
  Cost Heartbeats() {
    return Of([this] {
      for (Rank rank = 0; rank < nodes_; ++rank) {
        control::Report report;
        control::Heartbeat& heartbeat = *report.mutable_heartbeat();
        heartbeat.set_round(round_);
        heartbeat.set_state("waiting");
        heartbeat.add_waiting_for((rank + 1) % nodes_);
        heartbeat.set_progress(1000 * round_);
        report.set_received(told_[rank].received);
        Hear(rank, report);
      }
      now_ += milliseconds(1000);
      const double begin = ProcessorSeconds();
      coordinator_.OnTick(now_);
      Say();
      cost_.seconds += ProcessorSeconds() - begin;
    });
  }

  // Every node reports its measurements of a round.
  Cost MeasuredRound() {
    ++round_;
    return Of([this] {
      for (Rank rank = 0; rank < nodes_; ++rank) {
        control::Report report;
        control::NodeMetrics& metrics = *report.mutable_metrics();
        metrics.set_round(round_);
        metrics.set_time_s(0.1 * static_cast<double>(round_));
        metrics.set_train_loss_sum(1.25);
        metrics.set_samples(64);
        metrics.set_bytes_sent(1'000'000 * round_);
        metrics.set_bytes_received(1'000'000 * round_);
        for (int64_t i = 0; i < kSketchSize; ++i) {
          metrics.add_sketch(0.125 * static_cast<double>(i + rank));
        }
        control::StepSums& steps = *metrics.mutable_steps();
        steps.set_count(1);
        steps.set_time_s(0.1);
        steps.set_gradient_s(0.0625);
        for (const Rank peer : {(rank + 1) % nodes_, (rank + nodes_ - 1) % nodes_}) {
          control::PeerWait& wait = *metrics.add_waits();
          wait.set_peer(peer);
          wait.set_time_ns(12'345'678);
        }
        HearNumbered(rank, std::move(report));
      }
    });
  }

  // The last node is lost, and the others agree on a view without it.
  Cost View() {
    return Of([this] {
      const double begin = ProcessorSeconds();
      coordinator_.OnClosed(nodes_ - 1, "connection reset by peer", now_);
      coordinator_.OnGone(nodes_ - 1, "nobody listens at its address any more", now_);
      Say();
      cost_.seconds += ProcessorSeconds() - begin;
      for (Rank rank = 0; rank + 1 < nodes_; ++rank) {
        control::Report report;
        report.mutable_promise()->set_ballot(1);
        report.mutable_promise()->set_round(round_ + 1);
        HearNumbered(rank, std::move(report));
      }
    });
  }

 private:
  // The numbers of a node's messages.
  struct Told {
    uint64_t sent = 0, received = 0;
  };

  template <typename What>
  Cost Of(const What& what) {
    cost_ = {};
    what();
    return cost_;
  }

  void HearNumbered(Rank rank, control::Report report) {
    report.set_number(++told_[rank].sent);
    report.set_received(told_[rank].received);
    Hear(rank, report);
  }

  void Hear(Rank rank, const control::Report& report) {
    const std::string bytes = report.SerializeAsString();
    ++cost_.heard;
    cost_.heard_bytes += static_cast<int64_t>(bytes.size());
    const double begin = ProcessorSeconds();
    control::Report heard;
    if (!heard.ParseFromString(bytes)) std::abort();
    coordinator_.OnReport(rank, heard, now_);
    Say();
    cost_.seconds += ProcessorSeconds() - begin;
  }

  void Say() {
    const Coordinator::Output output = coordinator_.Take();
    for (const auto& [session, directive] : output.directives) {
      ++cost_.said;
      cost_.said_bytes += static_cast<int64_t>(directive.SerializeAsString().size());
      if (directive.number() > 0) told_[session].received = directive.number();
    }
    for (const auto& [rank, metrics] : output.metrics) {
      if (!collector_.OnNode(rank, metrics).ok()) std::abort();
    }
  }

  const Rank nodes_;
  SteadyTime now_{std::chrono::seconds(1000)};
  std::vector<Told> told_;
  Coordinator coordinator_;
  MetricsCollector collector_;
  Round round_ = 0;
  Cost cost_;
};

void Print(const Cost& cost) {
  std::printf(" %7lld %9.3f %7lld %9.3f %9.2f |", static_cast<long long>(cost.heard),
              1e-6 * static_cast<double>(cost.heard_bytes), static_cast<long long>(cost.said),
              1e-6 * static_cast<double>(cost.said_bytes), 1e3 * cost.seconds);
}

void Measure(Rank nodes) {
  const double before = MemoryInUse();
  std::optional<PlayedRun> run(std::in_place, nodes);
  const Cost start = run->Start();
  run->Heartbeats();
  run->MeasuredRound();
  const Cost heartbeats = run->Heartbeats();
  const Cost round = run->MeasuredRound();
  run->Heartbeats();
  const double memory = MemoryInUse() - before;
  const Cost view = run->View();
  if (!run->runs()) {
    std::fprintf(stderr, "the run of %d nodes has ended\n", nodes);
    std::exit(1);
  }
  std::printf("%6d |", nodes);
  for (const Cost& cost : {start, heartbeats, round, view}) Print(cost);
  std::printf(" %7.2f\n", 1e-6 * memory);
  std::fflush(stdout);
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  std::vector<grapevine::Rank> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::printf(
      "each: messages heard, MB, messages said, MB, processor ms\n"
      " nodes | start | a heartbeat of each | a measured round | a view | MB of memory\n");
  for (const grapevine::Rank nodes : sizes) {
    if (nodes < 3) {
      std::fprintf(stderr, "coordination_cost: numbers of nodes, at least 3\n");
      return 2;
    }
    grapevine::Measure(nodes);
  }
}
