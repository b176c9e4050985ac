// Advice against what a full sweep of the same cluster says, on every preset.
#include "cli/advice_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "algorithm/algorithm.h"
#include "cli/experiment.h"
#include "cli/round_timing.h"
#include "run/config_resolve.h"
#include "run/failure.h"
#include "sim/network_presets.h"

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
  for (const NetworkPreset& preset : AllNetworkPresets()) names.push_back(preset.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Presets, AdviceOnPreset, ::testing::ValuesIn(PresetNames()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

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
