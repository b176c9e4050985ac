// The simulator beside SimGrid (CM02 without corrections for TCP): the same
// transfers between the hosts of one switch.
//
//   bazel run //bench:simgrid_comparison -- times             (needs libsimgrid-dev)
//   bazel run //bench:simgrid_comparison -- speed [REPETITIONS [NODES [ROUNDS]]]
//
// times: how far simulated times are apart, for three patterns, both network models
// and a grid of sizes (whose chunks are whole elements), bandwidths and latencies.
// One latency is taken off ours: the first receive buffer is known to its sender a
// latency after it was posted, as in the runtime, and later ones are known in time.
// SimGrid charges nothing for a rendezvous. Cells beyond 2 % are listed.
//
// speed: ring gossip of 1 MB; messages per second of wall and of processor time, of
// SimGrid and both network models in turn. Medians.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "algorithm/algorithm.h"
#include "bench/timing_run.h"

namespace grapevine {
namespace {

// All to one at once, as a state machine for the simulator: node i sends i
// replicas as one message to node 0. One round: the node is at rest when its messages
// have left and arrived.
class Incast final : public Algorithm {
 public:
  Incast(Rank rank, Rank nodes) : rank_(rank), nodes_(nodes) {}

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return missing_ == 0 ? 1 : 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  Part Replicas(Rank count, Host& host) const;

  const Rank rank_;
  const Rank nodes_;
  Rank missing_ = -1;  // messages; not begun: -1
};

constexpr Tag kTag{};

absl::Status Incast::On(const Event& event, Host& host) {
  if (std::holds_alternative<RoundLimit>(event) || std::holds_alternative<Sent>(event)) {
    return absl::OkStatus();
  }
  if (!std::holds_alternative<Start>(event)) {
    --missing_;
  } else if (rank_ == 0) {
    missing_ = nodes_ - 1;
    for (Rank from = 1; from < nodes_; ++from) host.Post(from, kTag, Replicas(from, host), 0);
  } else {
    missing_ = 1;
    host.Send(0, kTag, Replicas(rank_, host));
  }
  if (missing_ == 0) {
    host.Boundary(1, {});
    host.Rest({});
  }
  return absl::OkStatus();
}

std::vector<Rank> Incast::Peers(Round from, Round to) const {
  if (rank_ > 0) return {0};
  std::vector<Rank> senders;
  for (Rank sender = 1; sender < nodes_; ++sender) senders.push_back(sender);
  return senders;
}

Part Incast::Replicas(Rank count, Host& host) const {
  const int64_t elements = count * host.replica_size();
  return {host.New(elements, "replicas"), 0, elements};
}

constexpr const char* kPeer = "bench/peers/simgrid_transfers";
constexpr std::array kModels = {"nic", "flow"};

struct Transfers {
  const char* pattern = "gossip";
  TimingRun run;
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

// Simulated, wall and processor seconds.
TimingResult Ours(const Transfers& transfers, const char* model) {
  TimingRun run = transfers.run;
  run.model = model;
  const std::string_view pattern = transfers.pattern;
  if (pattern == "allreduce") run.algorithm = "allreduce";
  if (pattern == "incast") {
    run.make_algorithm = [&run](Rank rank) { return std::make_unique<Incast>(rank, run.nodes); };
  }
  const absl::StatusOr<TimingResult> result = MeasureTiming(run);
  if (!result.ok()) Fail(std::string(result.status().message()));
  return *result;
}

TimingResult SimGrid(const Transfers& transfers) {
  const TimingRun& run = transfers.run;
  const std::string command = absl::StrFormat(
      "%s %s %d %d %d %.17g %.17g", kPeer, transfers.pattern, run.nodes, run.rounds, run.bytes,
      static_cast<double>(run.bandwidth) / 8, static_cast<double>(run.latency) * 1e-9);
  std::FILE* const output = popen(command.c_str(), "r");
  TimingResult result;
  const bool read = output != nullptr && std::fscanf(output, "%lf %lf %lf", &result.simulated,
                                                     &result.wall, &result.processor) == 3;
  if (output != nullptr) pclose(output);
  if (!read) Fail(absl::StrCat("no answer from: ", command));
  return result;
}

// How far ratios of simulated times, ours to SimGrid's, are from 1.
struct Deviations {
  std::vector<double> all;
  double worst = 0;

  void Add(double ratio) {
    all.push_back(std::abs(ratio - 1));
    worst = std::max(worst, all.back());
  }
};

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void CompareTimes(const char* pattern, Rank nodes) {
  std::array<Deviations, kModels.size()> deviations;
  for (const int64_t bytes : {10'240, 1'024'000, 102'400'000}) {
    for (const int64_t bandwidth :
         {int64_t{100'000'000}, int64_t{1'000'000'000}, int64_t{10'000'000'000}}) {
      for (const Nanoseconds latency : {10'000, 1'000'000, 30'000'000}) {
        // One incast: the next would wait for credits.
        const Round rounds = std::string_view(pattern) == "incast" ? 1 : 10;
        const Transfers transfers{pattern,
                                  {.nodes = nodes,
                                   .rounds = rounds,
                                   .bytes = bytes,
                                   .bandwidth = bandwidth,
                                   .latency = latency}};
        const double simgrid = SimGrid(transfers).simulated;
        for (size_t model = 0; model < kModels.size(); ++model) {
          const double ours =
              Ours(transfers, kModels[model]).simulated - static_cast<double>(latency) * 1e-9;
          deviations[model].Add(ours / simgrid);
          if (std::abs(ours / simgrid - 1) > 0.02) {
            std::printf(
                "  %s, %d nodes, %lld bytes, %lld bit/s, %lld ns, %s: %.6g s, SimGrid %.6g s\n",
                pattern, nodes, static_cast<long long>(bytes), static_cast<long long>(bandwidth),
                static_cast<long long>(latency), kModels[model], ours, simgrid);
          }
        }
      }
    }
  }
  for (size_t model = 0; model < kModels.size(); ++model) {
    std::printf("| %s | %d | %s | %zu | %.6f %% | %.6f %% |\n", pattern, nodes, kModels[model],
                deviations[model].all.size(), 100 * Median(deviations[model].all),
                100 * deviations[model].worst);
  }
  std::fflush(stdout);
}

void CompareTimes() {
  std::printf("| pattern | nodes | model | cells | median deviation | worst |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const char* pattern : {"gossip", "allreduce", "incast"}) {
    for (const Rank nodes : {4, 8, 64}) CompareTimes(pattern, nodes);
  }
}

// Messages per second of wall and of processor time.
struct Speeds {
  std::vector<double> wall;
  std::vector<double> processor;

  void Add(double messages, const TimingResult& result) {
    wall.push_back(messages / result.wall);
    processor.push_back(messages / result.processor);
    std::printf("  %.4g messages/s, %.4g a processor second\n", wall.back(), processor.back());
    std::fflush(stdout);
  }
};

void CompareSpeed(int repetitions, Rank nodes, Round rounds) {
  const Transfers transfers{"gossip", {.nodes = nodes, .rounds = rounds}};
  const double messages = 2.0 * nodes * static_cast<double>(rounds);
  Speeds simgrid;
  std::array<Speeds, kModels.size()> ours;
  for (int i = 0; i < repetitions; ++i) {
    simgrid.Add(messages, SimGrid(transfers));
    for (size_t model = 0; model < kModels.size(); ++model) {
      ours[model].Add(messages, Ours(transfers, kModels[model]));
    }
  }
  std::printf("| | messages/s | ratio | a processor second | ratio |\n|---|---|---|---|---|\n");
  const auto print = [&](const char* name, const Speeds& speeds) {
    const double wall = Median(speeds.wall);
    const double processor = Median(speeds.processor);
    std::printf("| %s | %.3g | %.1f | %.3g | %.1f |\n", name, wall, wall / Median(simgrid.wall),
                processor, processor / Median(simgrid.processor));
  };
  print("SimGrid", simgrid);
  for (size_t model = 0; model < kModels.size(); ++model) print(kModels[model], ours[model]);
}

int Main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "times") {
    CompareTimes();
  } else if (what == "speed") {
    CompareSpeed(std::max(1, argc > 2 ? std::atoi(argv[2]) : 3),
                 argc > 3 ? std::atoi(argv[3]) : 8192, argc > 4 ? std::atoll(argv[4]) : 100);
  } else {
    Fail("simgrid_comparison times | speed [REPETITIONS [NODES [ROUNDS]]]");
  }
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc, argv); }
