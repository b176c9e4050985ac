// What the field has published, seen through `grapevine sim`: docs/simulator.md
// shows the same with pictures and commands.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using Json = nlohmann::json;

// Simulates with these flags; empty when that failed.
std::vector<Json> MetricsOf(std::vector<std::string> flags) {
  const ScratchFolder folder;
  flags.insert(flags.begin(), {"sim", "--out", folder.File("run")});
  const Ended ended = RunGrapevine(flags);
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  std::ifstream lines(folder.File("run") + "/metrics.jsonl");
  std::vector<Json> metrics;
  for (std::string line; std::getline(lines, line);) metrics.push_back(Json::parse(line));
  EXPECT_FALSE(metrics.empty());
  return metrics;
}

double SecondsPerRound(const std::string& network, const std::string& method) {
  const std::vector<Json> metrics = MetricsOf(
      {"-n", "16", "--model=phantom:1.08MB", "--compute=1ms", "--rounds=40", network, method});
  return metrics.empty() ? NAN : metrics.back()["time_s"].get<double>() / 40;
}

// One peer a round over a continent: the default hides the latency of credits.
TEST(PublishedShapes, OnePeerARoundWaitsForOneLatency) {
  const std::vector<Json> metrics =
      MetricsOf({"-n", "112", "--topology=one-peer-exponential", "--model=phantom:1.08MB",
                 "--compute=0s", "--rounds=50", "--bandwidth=1Gbit", "--latency=64ms"});
  ASSERT_FALSE(metrics.empty());
  EXPECT_LE(metrics.back()["time_s"].get<double>() / 50, 1.15 * (64e-3 + 1.08e6 * 8 / 1e9));
}

// Bagua's figure (Gan et al. 2021): with 5 ms of latency an epoch takes allreduce
// more than twice as long. A gossip round waits for one latency, or for two where
// it also waits for credits; a ring allreduce of 16 for thirty.
TEST(PublishedShapes, GossipBeatsAllreduceWhereLatencyIsHigh) {
  for (const char* latency : {"--latency=5ms", "--latency=50ms"}) {
    const double gossip = SecondsPerRound(latency, "--algorithm=dpsgd");
    EXPECT_GT(SecondsPerRound(latency, "--algorithm=allreduce:ring"), 2 * gossip);
    EXPECT_GT(SecondsPerRound(latency, "--algorithm=allreduce:halving-doubling"), 1.5 * gossip);
  }
}

// 2 M a round against 2 (n - 1) / n M: nothing is won by gossiping on a ring where
// bytes are what costs.
TEST(PublishedShapes, OnBandwidthGossipOnlyTiesAGoodAllreduce) {
  for (const char* bandwidth : {"--bandwidth=10Mbit", "--bandwidth=50Mbit"}) {
    const double ratio = SecondsPerRound(bandwidth, "--algorithm=allreduce:ring") /
                         SecondsPerRound(bandwidth, "--algorithm=dpsgd");
    EXPECT_GT(ratio, 0.9) << bandwidth;
    EXPECT_LT(ratio, 1.05) << bandwidth;
  }
}

// D-PSGD's figure 3 (Lian et al. 2017): against epochs, both learn alike.
TEST(PublishedShapes, LossAgainstEpochOverlapsOnDataThatAreAlike) {
  const auto losses = [](const char* topology, const char* algorithm) {
    std::map<double, double> by_epoch;
    for (const Json& metrics :
         MetricsOf({"-n", "8", "--model=mlp:width=32", "--data=synthetic:train=4096:test=512",
                    "--epochs=6", "--eval-every=1", "--compute=5ms", "--topology", topology,
                    "--algorithm", algorithm, "--log-every=1000"})) {
      by_epoch[metrics["epoch"]] = metrics["test_loss"];
    }
    return by_epoch;
  };
  const auto allreduce = losses("ring", "allreduce");
  ASSERT_EQ(allreduce.size(), 6u);
  const double range = allreduce.begin()->second - allreduce.rbegin()->second;
  EXPECT_GT(range, 0.2) << "nothing was learnt";
  for (const char* topology : {"ring", "torus", "one-peer-exponential"}) {
    for (const auto& [epoch, loss] : losses(topology, "dpsgd")) {
      EXPECT_NEAR(loss, allreduce.at(epoch), 0.1 * range) << topology << ", epoch " << epoch;
    }
  }
}

// The first round from which on the nodes' own models are, on average, hardly worse
// than those of an allreduce: at most half again as far above the optimum. On quadratics of
// curvature 1, (1/n) sum_i F(x_i) = F(mean) + |consensus| / 2.
double Transient(const std::string& topology) {
  constexpr double kHardlyWorse = 0.5;
  double since = 0;
  for (const Json& metrics :
       MetricsOf({"-n", "16", "--model=quadratic:dim=400", "--rounds=800", "--compute=1ms",
                  "--lr=0.2", "--momentum=0", "--schedule=poly:power=1",
                  "--algorithm=dpsgd:order=atc", "--topology", topology})) {
    const double mean = metrics["test_loss"];
    const double local = mean + metrics["consensus_distance"].get<double>() / 2;
    if (local > (1 + kHardlyWorse) * mean) since = metrics["round"];
  }
  return since;
}

// Ying et al. 2021 (arXiv:2110.13363), table 1: the smaller the spectral gap, the
// longer gossip is worse than allreduce.
TEST(PublishedShapes, TheTransientPhaseGrowsAsTheGapShrinks) {
  const double ring = Transient("ring"), torus = Transient("torus"),
               exponential = Transient("exponential"), complete = Transient("complete");
  EXPECT_GT(ring, 1.3 * torus) << "gaps 0.05 and 0.4";
  EXPECT_NEAR(torus, exponential, 0.2 * torus) << "gap 0.4 both";
  EXPECT_GT(torus, 100);
  EXPECT_EQ(complete, 0) << "gap 1: an allreduce";
  EXPECT_LT(ring, 800);
}

}  // namespace
}  // namespace grapevine::testing
