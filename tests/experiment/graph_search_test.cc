// The graphs that are found: never worse than those that everybody takes, within what was asked
// for, and much better where links are uneven. Simulated time is the same everywhere, so is the
// result.
#include "experiment/graph_search/graph_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/graph_search/graph_search_report.h"
#include "random/keyed_random.h"
#include "run/config/config_resolve.h"
#include "tests/testing/json_text.h"
#include "tests/testing/seeds.h"
#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

Config Resolved(Rank nodes, const std::string& network,
                std::map<std::string, std::string> flags = {}) {
  flags.insert({{"nodes", std::to_string(nodes)}, {"network", network}, {"model", "phantom:10MB"}});
  const absl::StatusOr<ResolvedConfig> resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved->config;
}

GraphSearchResult Search(const Config& config, const GraphSearchOptions& options) {
  const absl::StatusOr<GraphSearchResult> result = SearchGraph(config, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

// Connected over a period, doubly stochastic in every round.
void ExpectUsable(const Mixing& mixing) {
  const Topology& topology = mixing.topology();
  const Rank n = topology.size();
  ASSERT_GE(topology.period(), 1);
  std::vector<Edge> edges;
  MixingRow row;
  for (Round round = 0; round < topology.period(); ++round) {
    std::vector<double> columns(n, 0);
    for (Rank rank = 0; rank < n; ++rank) {
      mixing.Row(rank, round, &row);
      double sum = row.self;
      EXPECT_GE(row.self, 0);
      columns[rank] += row.self;
      for (const auto& [from, weight] : row.in) {
        EXPECT_GE(weight, 0);
        sum += weight;
        columns[from] += weight;
        if (weight > 0) edges.push_back({from, rank});
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    for (const double column : columns) EXPECT_NEAR(column, 1, 1e-12);
  }
  EXPECT_EQ(MissingPath(n, edges), std::nullopt);
}

// Seconds; infinite if none is allowed.
double BestFamily(const GraphSearchResult& result) {
  if (!result.best_family) return std::numeric_limits<double>::infinity();
  return result.families[*result.best_family].seconds;
}

// A ring of switches with hosts, all links drawn.
std::string RandomNetwork(Rank nodes, uint64_t seed) {
  KeyedRandom random(seed, Purpose::kRouting);
  const std::string path = absl::StrCat(::testing::TempDir(), "/net", seed, ".textproto");
  std::ofstream file(path);
  const auto link = [&](const std::string& a, const std::string& b, int slowest) {
    file << "link { a: \"" << a << "\" b: \"" << b << "\" bandwidth: \""
         << slowest * (1 + random.Below(20)) << "Mbit\" latency: \"" << 20 + random.Below(20'000)
         << "us\" }\n";
  };
  constexpr int kSwitches = 3;
  for (int i = 0; i < kSwitches; ++i) file << "switch { name: \"s" << i << "\" }\n";
  for (Rank host = 0; host < nodes; ++host) file << "host { name: \"h" << host << "\" }\n";
  for (int i = 0; i < kSwitches; ++i) {
    link(absl::StrCat("s", i), absl::StrCat("s", (i + 1) % kSwitches), 20);
  }
  for (Rank host = 0; host < nodes; ++host) {
    link(absl::StrCat("h", host), absl::StrCat("s", random.Below(kSwitches)), 100);
  }
  return "file:" + path;
}

TEST(GraphSearch, IsNeverWorseThanAnyFamilyOnPresets) {
  const GraphSearchOptions kShort = {.simulations = 40};
  for (const char* network : {"lan-1gbit", "cloud-region", "home-edge", "wan-3-sites",
                              "racks:hosts=4:oversubscription=4", "cluster-100gbit"}) {
    for (const Rank nodes : {4, 7, 16}) {
      SCOPED_TRACE(absl::StrCat(network, " ", nodes));
      const GraphSearchResult result = Search(Resolved(nodes, network), kShort);
      ASSERT_FALSE(result.families.empty());
      EXPECT_EQ(result.best_family, 0u);
      EXPECT_LE(result.best.seconds, BestFamily(result));
      EXPECT_LE(result.simulations, kShort.simulations);
      ExpectUsable(*result.best.mixing);
    }
  }
}

TEST(GraphSearch, IsNeverWorseThanAnyFamilyOnRandomNetworks) {
  const GraphSearchOptions kShort = {.simulations = 40};
  // Of the first, an edge that was moved had made a node's weights sum to 1.18.
  std::vector<uint64_t> seeds = {15285573};
  for (const uint64_t seed : Seeds(6)) seeds.push_back(seed);
  for (const uint64_t seed : seeds) {
    const auto nodes = static_cast<Rank>(4 + KeyedRandom(seed, Purpose::kPlacement).Below(13));
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", nodes, " nodes"));
    const GraphSearchResult result = Search(Resolved(nodes, RandomNetwork(nodes, seed)), kShort);
    EXPECT_LE(result.best.seconds, BestFamily(result));
    ExpectUsable(*result.best.mixing);
  }
}

TEST(GraphSearch, KeepsToTheDegreeAndToFixedGraphs) {
  for (const Rank degree : {1, 2, 3}) {
    for (const bool fixed : {false, true}) {
      if (fixed && degree == 1) continue;
      SCOPED_TRACE(absl::StrCat("degree ", degree, fixed ? ", fixed" : ""));
      const GraphSearchResult result =
          Search(Resolved(9, "wan-3-sites"), {.degree = degree, .fixed = fixed, .simulations = 40});
      EXPECT_LE(MostSent(result.best.mixing->topology()), degree);
      EXPECT_EQ(result.best.degree, MostSent(result.best.mixing->topology()));
      EXPECT_TRUE(!fixed || result.best.mixing->topology().period() == 1);
      EXPECT_LE(result.best.seconds, BestFamily(result));
      ExpectUsable(*result.best.mixing);
    }
  }
}

// The gate of the issue, against all families that are advised, schedules among them.
TEST(GraphSearch, IsMuchFasterOverThreeSites) {
  for (const Rank nodes : {6, 12, 16}) {
    for (const char* model : {"phantom:1MB", "phantom:100MB"}) {
      SCOPED_TRACE(absl::StrCat(nodes, " nodes, ", model));
      const GraphSearchResult result =
          Search(Resolved(nodes, "wan-3-sites", {{"model", model}}), {.simulations = 50});
      EXPECT_GE(BestFamily(result) / result.best.seconds, 1.2);
    }
  }
  // Fixed graphs against fixed graphs.
  const GraphSearchResult fixed =
      Search(Resolved(12, "wan-3-sites"), {.degree = 3, .fixed = true, .simulations = 50});
  EXPECT_GE(BestFamily(fixed) / fixed.best.seconds, 1.2);
}

TEST(GraphSearch, IsTheSameEachTime) {
  const Config config = Resolved(9, "wan-3-sites");
  const GraphSearchBasis basis{.nodes = 9, .model = "phantom:10MB", .compute = "0s"};
  const GraphSearchOptions options{.simulations = 60};
  const std::string once = GraphSearchJson(Search(config, options), basis);
  EXPECT_EQ(GraphSearchJson(Search(config, options), basis), once);
}

// Where rounds last as long as their gradients, what counts is their number.
TEST(GraphSearch, HidesMessagesBehindGradients) {
  const GraphSearchResult result =
      Search(Resolved(8, "cluster-100gbit", {{"compute", "1s"}, {"model", "phantom:1MB"}}),
             {.simulations = 40});
  EXPECT_EQ(result.best.rounds, 1);
  EXPECT_NEAR(result.best.seconds, 1, 0.01);
}

TEST(GraphSearch, SaysWhatIsWrong) {
  const auto error = [](const Config& config, const GraphSearchOptions& options) {
    const auto result = SearchGraph(config, options);
    EXPECT_EQ(FailureOf(result.status()), Failure::kUsage) << result.status();
    return std::string(result.status().message());
  };
  EXPECT_THAT(error(Resolved(1, "switch"), {}), HasSubstr("--optimize is for 2 to 128 nodes"));
  EXPECT_THAT(error(Resolved(129, "switch"), {}), HasSubstr("--optimize is for 2 to 128 nodes"));
  EXPECT_THAT(error(Resolved(4, "switch"), {.degree = 4}),
              HasSubstr("--degree=4: a node has 1 to 3 neighbours"));
  EXPECT_THAT(error(Resolved(4, "switch"), {.simulations = 0}), HasSubstr("--budget=0"));
  EXPECT_THAT(error(Resolved(4, "switch"), {.degree = 1, .fixed = true}),
              HasSubstr("--degree=1: one neighbour for each node joins only pairs"));
  EXPECT_THAT(error(Resolved(4, "swtich"), {}), HasSubstr("--network=swtich"));
}

TEST(GraphSearch, EndsWhenInterrupted) {
  std::atomic<bool> interrupted = true;
  const auto result = SearchGraph(Resolved(8, "wan-3-sites"), {.interrupted = &interrupted});
  EXPECT_EQ(FailureOf(result.status()), Failure::kInterrupted) << result.status();
}

TEST(GraphSearchReport, HasTheTableAndTheMessages) {
  const GraphSearchResult result = Search(Resolved(6, "wan-3-sites"), {.simulations = 40});
  const GraphSearchBasis basis{.nodes = 6, .model = "phantom:10MB", .compute = "0s"};
  const std::string text = GraphSearchText(result, basis);
  EXPECT_THAT(text, HasSubstr("times as fast as "));
  EXPECT_THAT(text, HasSubstr("\nring "));
  const nlohmann::json json = JsonOf(GraphSearchJson(result, basis));
  EXPECT_EQ(json["best"]["seconds"], result.best.seconds);
  EXPECT_EQ(json["families"].size(), result.families.size());
  EXPECT_EQ(json["best"]["messages"].size(), json["best"]["period"]);
  EXPECT_EQ(json["basis"]["nodes"], 6);
}

}  // namespace
}  // namespace grapevine::testing
