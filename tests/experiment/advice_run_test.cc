// Advice against what a full sweep of the same cluster says, on every preset, and against
// closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "base/status.h"
#include "experiment/advice/advice.h"
#include "experiment/advice/advice_report.h"
#include "experiment/core/experiment.h"
#include "run/config/config_resolve.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Round kRounds = 100;

Config ClusterOf(const std::string& network, const std::string& model = "phantom:1.08MB",
                 const std::string& nodes = "8") {
  const absl::StatusOr<ResolvedConfig> resolved = ResolveConfig({.flags = {{"nodes", nodes},
                                                                           {"network", network},
                                                                           {"model", model},
                                                                           {"compute", "10ms"},
                                                                           {"rounds", "100"}}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved->config;
}

// As a sweep measures it: the whole run over its rounds. For as many gradients as
// there are nodes: of parameter servers, whose servers compute none, more than a round.
double SweptSeconds(Config config, const Candidate& candidate) {
  config.set_topology(candidate.topology);
  config.set_algorithm(candidate.algorithm);
  const auto experiment = Experiment::Build(config);
  if (!experiment.ok()) return std::numeric_limits<double>::infinity();
  const auto seconds = TimeRounds(**experiment, config, {.warm_up = 0, .measured = kRounds});
  EXPECT_TRUE(seconds.ok()) << seconds.status();
  const absl::StatusOr<Rank> workers = WorkerCount(candidate.algorithm, config.nodes());
  EXPECT_TRUE(workers.ok()) << workers.status();
  return *seconds * config.nodes() / *workers;
}

class AdviceOnPreset : public ::testing::TestWithParam<std::string> {};

TEST_P(AdviceOnPreset, IsWithinTenPercentOfTheBestCell) {
  for (const char* model : {"phantom:1.08MB", "phantom:100MB"}) {
    const Config config = ClusterOf(GetParam(), model);
    const absl::StatusOr<ClusterAdvice> advice = AdviseCluster(config, {});
    ASSERT_TRUE(advice.ok()) << advice.status();
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : AdviceCandidates(config.nodes())) {
      best = std::min(best, SweptSeconds(config, candidate));
    }
    const CandidateResult& choice = advice->advice.ranking[advice->advice.chosen];
    EXPECT_LE(SweptSeconds(config, choice.candidate), 1.1 * best)
        << model << ": " << choice.candidate.name();
    EXPECT_TRUE(advice->bandwidth.has_value() && advice->latency.has_value());
  }
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const PlatformKind* kind : Platforms().All()) {
    if (!kind->preset.empty()) names.push_back(kind->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Presets, AdviceOnPreset, ::testing::ValuesIn(PresetNames()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// One switch, in closed form (docs/algorithms.md): an oracle that shares nothing with the
// simulator.
struct Switch {
  double bits;       // per second
  double latency;    // seconds
  double megabytes;  // of a replica
  double compute;    // seconds
};

Config ConfigOf(const Switch& on, Rank nodes) {
  const auto text = [](double value, const char* unit) {
    return absl::StrCat(std::llround(value), unit);
  };
  const absl::StatusOr<ResolvedConfig> resolved =
      ResolveConfig({.flags = {{"nodes", std::to_string(nodes)},
                               {"network", "switch"},
                               {"bandwidth", text(on.bits, "bit")},
                               {"latency", text(1e9 * on.latency, "ns")},
                               {"model", "phantom:" + text(1e6 * on.megabytes, "B")},
                               {"compute", text(1e9 * on.compute, "ns")},
                               {"memory_bandwidth", "0bit"},
                               {"rounds", "1"}}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved->config;
}

struct Bounds {
  double low, high;
};

// Seconds for as many gradients as there are nodes, of 16 nodes.
Bounds ClosedForm(const Candidate& candidate, const Switch& on) {
  constexpr Rank kNodes = 16;
  constexpr int kLevels = 4;
  const double alpha = on.latency;
  const double send = 8e6 * on.megabytes / on.bits;
  const double share = 2.0 * (kNodes - 1) / kNodes * send;
  const auto gossip = [&](int degree) {
    const double exchange = alpha + degree * send;
    // The credit of a graph that changes may take a latency of its own.
    const double credit = candidate.topology == "one-peer-exponential" ? alpha : 0;
    return Bounds{std::max(on.compute, exchange), std::max(on.compute, exchange + credit)};
  };
  if (!candidate.centralized) {
    const std::map<std::string, int> degrees = {{"ring", 2},
                                                {"torus", 4},
                                                {"exponential", kLevels},
                                                {"one-peer-exponential", 1},
                                                {"random:d=3", 3},
                                                {"complete", kNodes - 1}};
    return gossip(degrees.at(candidate.topology));
  }
  const std::map<std::string, double> sums = {
      {"allreduce:ring", 2 * (kNodes - 1) * alpha + share},
      {"allreduce:halving-doubling", 2 * kLevels * alpha + share},
      {"allreduce:recursive-doubling", kLevels * (alpha + send)},
      {"allreduce:tree", 2 * kLevels * (alpha + send)},
      {"allreduce:torus", 2 * (3 + 3) * alpha + share},  // 4 x 4
      // Four groups of four.
      {"allreduce:hierarchical", 2 * 2 * (alpha + send) + 2 * 3 * (alpha + send / 4)}};
  const std::string& name = candidate.algorithm;
  if (const auto sum = sums.find(name); sum != sums.end()) {
    return {on.compute + sum->second, on.compute + sum->second};
  }
  if (name.starts_with("ps:servers=")) {
    const int servers = std::stoi(name.substr(11));
    const int workers = kNodes - servers;
    const double in = std::max(1.0 * workers / servers, 1.0) * send;
    const double round = on.compute + 2 * (alpha + in);
    return {round * kNodes / workers, round * kNodes / workers};
  }
  // Pieces follow one another up and down trees of a height of 5.
  if (name == "allreduce:double-tree") {
    return {on.compute + 2 * send * (kNodes - 1) / kNodes,
            on.compute + 1.1 * (2 * 5 * (alpha + send / 8) + 2 * send)};
  }
  // In buckets: not before the gradient is there.
  return {on.compute, std::numeric_limits<double>::infinity()};
}

TEST(AdviceOracle, TimesAndChoiceAreThoseOfTheClosedForms) {
  for (const Switch& on : {Switch{10e6, 100e-6, 1.08, 1e-3}, Switch{1e9, 64e-3, 1.08, 1e-3},
                           Switch{941e6, 50e-6, 100, 2}}) {
    SCOPED_TRACE(absl::StrCat(on.bits, " bit/s, ", on.latency, " s, ", on.megabytes, " MB, ",
                              on.compute, " s"));
    const absl::StatusOr<ClusterAdvice> advice = AdviseCluster(ConfigOf(on, 16), {});
    ASSERT_TRUE(advice.ok()) << advice.status();
    EXPECT_TRUE(advice->left_out.empty());
    double fastest = std::numeric_limits<double>::infinity();
    for (const CandidateResult& result : advice->advice.ranking) {
      const Bounds expected = ClosedForm(result.candidate, on);
      EXPECT_GE(result.seconds, 0.99 * expected.low) << result.candidate.name();
      EXPECT_LE(result.seconds, 1.01 * expected.high) << result.candidate.name();
      fastest = std::min(fastest, expected.high);
    }
    // Nothing whose time is known beats the choice by more than the tolerance, and who
    // mixes in fewer rounds is slower by more.
    const CandidateResult& choice = advice->advice.ranking[advice->advice.chosen];
    EXPECT_LE(choice.seconds, (1 + kTolerance) * 1.01 * fastest) << choice.candidate.name();
    for (const CandidateResult& other : advice->advice.ranking) {
      if (other.rounds_to_mix >= choice.rounds_to_mix) continue;
      EXPECT_GT(ClosedForm(other.candidate, on).high, (1 + kTolerance) * 0.99 * fastest)
          << other.candidate.name() << " beside " << choice.candidate.name();
    }
  }
}

TEST(AdviseCluster, SaysHowMuchANodeHolds) {
  const auto advice = AdviseCluster(ClusterOf("switch", "phantom:1MB", "4"), {});
  ASSERT_TRUE(advice.ok()) << advice.status();
  std::map<std::string, int64_t> memory;
  for (const CandidateResult& result : advice->advice.ranking) {
    memory[result.candidate.name()] = result.memory;
  }
  // Four replicas, and one for each neighbour.
  EXPECT_EQ(memory["dpsgd on ring"], 6'000'000);
  EXPECT_EQ(memory["dpsgd on complete"], 7'000'000);
  EXPECT_EQ(memory["dpsgd on one-peer-exponential"], 5'000'000);
  EXPECT_EQ(memory["allreduce:ring"], 6'000'000);
  // Three gradients and as much as a worker's and the momentum; two of half the size.
  EXPECT_EQ(memory["ps:servers=1"], 6'000'000);
  EXPECT_EQ(memory["ps:servers=2"], 2'500'000);
  EXPECT_THAT(AdviceText(*advice, {}), HasSubstr("rounds to mix  memory\n"));
  EXPECT_THAT(AdviceJson(*advice, {}), HasSubstr("\"memory_bytes\": 7000000,"));
}

TEST(AdviseCluster, CountsTheOptimizersState) {
  const std::map<std::string, int64_t> on_ring = {
      {"sgd:momentum=0", 5'000'000}, {"sgd", 6'000'000}, {"adam", 7'000'000}};
  for (const auto& [optimizer, bytes] : on_ring) {
    Config config = ClusterOf("switch", "phantom:1MB", "4");
    config.set_optimizer(optimizer);
    const auto advice = AdviseCluster(config, {});
    ASSERT_TRUE(advice.ok()) << advice.status();
    const auto ring = std::ranges::find_if(
        advice->advice.ranking,
        [](const CandidateResult& result) { return result.candidate.name() == "dpsgd on ring"; });
    ASSERT_NE(ring, advice->advice.ranking.end());
    EXPECT_EQ(ring->memory, bytes) << optimizer;
  }
}

TEST(AdviseCluster, NamesCandidatesThatCannotBe) {
  const auto advice = AdviseCluster(ClusterOf("switch", "phantom:1MB", "3"), {});
  ASSERT_TRUE(advice.ok()) << advice.status();
  for (const auto& [candidate, why] : advice->left_out) {
    EXPECT_EQ(FailureOf(why), Failure::kUsage) << candidate.name() << ": " << why;
  }
  EXPECT_FALSE(advice->left_out.empty());
}

TEST(AdviseCluster, BlamesTheNetworkForItsOwnErrors) {
  const auto advice = AdviseCluster(ClusterOf("cloud-regoin"), {});
  EXPECT_EQ(FailureOf(advice.status()), Failure::kUsage);
  EXPECT_THAT(std::string(advice.status().message()), HasSubstr("cloud-regoin"));
}

TEST(AdviseCluster, StopsWhenInterrupted) {
  const std::atomic<bool> interrupted = true;
  const auto advice = AdviseCluster(ClusterOf("switch"), {.interrupted = &interrupted});
  EXPECT_EQ(FailureOf(advice.status()), Failure::kInterrupted);
}

}  // namespace
}  // namespace grapevine
