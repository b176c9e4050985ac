// D-PSGD on noisy quadratics against its exact stationary consensus distance
// (the Lyapunov equations of AWC, C <- (W - gh) C (W - gh)' + g^2 s^2 I, and ATC,
// C <- (1 - gh)^2 W C W' + g^2 s^2 W W').
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

constexpr int64_t kCoordinates = 4000;  // independent samples of the same process
constexpr Round kBurnIn = 150;
constexpr Round kMixingRounds = 450;

// Collects all replicas of a round, then averages (1/n) sum |x_i - mean|^2 per
// coordinate over the rounds after the burn-in.
class DistanceMeter {
 public:
  explicit DistanceMeter(Rank nodes) : nodes_(nodes) {}

  void Add(Round round, std::span<const float> x) {
    if (round <= kBurnIn) return;
    Moments& moments = rounds_[round];
    moments.sum.resize(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      moments.sum[i] += x[i];
      moments.squares += static_cast<double>(x[i]) * x[i];
    }
    if (++moments.nodes < nodes_) return;
    double distance = moments.squares / nodes_;
    for (double sum : moments.sum) distance -= (sum / nodes_) * (sum / nodes_);
    total_ += distance / static_cast<double>(x.size());
    ++measured_;
    rounds_.erase(round);
  }

  double mean() const { return total_ / static_cast<double>(measured_); }

 private:
  struct Moments {
    Rank nodes = 0;
    double squares = 0;
    std::vector<double> sum;
  };
  const Rank nodes_;
  std::map<Round, Moments> rounds_;
  double total_ = 0;
  Round measured_ = 0;
};

struct ConsensusCase {
  std::string topology;
  Rank nodes;
  std::string algorithm;
  double distance;  // at learning rate 0.1, h = sigma = 1, per coordinate
  // All coordinates see the same random graphs: these average over rounds alone.
  Round rounds = kMixingRounds;
  double tolerance = 0.01;
};

class ConsensusOracle : public ::testing::TestWithParam<ConsensusCase> {};

TEST_P(ConsensusOracle, StationaryDistanceIsTheSolutionOfTheLyapunovEquation) {
  DistanceMeter meter(GetParam().nodes);
  Cluster cluster(
      {.algorithm = GetParam().algorithm,
       .topology = GetParam().topology,
       .nodes = GetParam().nodes,
       .parameters = kCoordinates,
       .learning_rate = 0.1,
       .gradient = Quadratic(1, 1, /*seed=*/3),
       .at_boundary = [&](Rank, Round round, std::span<const float> x) { meter.Add(round, x); }});
  ASSERT_TRUE(cluster.Run(GetParam().rounds).ok());
  EXPECT_NEAR(meter.mean() / GetParam().distance, 1, GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    All, ConsensusOracle,
    ::testing::Values(ConsensusCase{"ring", 8, "dpsgd", .011800},
                      ConsensusCase{"ring", 8, "dpsgd:order=atc", .003912},
                      ConsensusCase{"torus:4x4", 16, "dpsgd", .0110940},
                      ConsensusCase{"torus:4x4", 16, "dpsgd:order=atc", .0018465},
                      ConsensusCase{"exponential", 7, "dpsgd", .0096308},
                      ConsensusCase{"exponential", 7, "dpsgd:order=atc", .0011921},
                      ConsensusCase{"one-peer-exponential", 8, "dpsgd", .0127387},
                      ConsensusCase{"one-peer-exponential", 8, "dpsgd:order=atc", .0047625},
                      ConsensusCase{"one-peer-exponential", 7, "dpsgd", .0123881},
                      ConsensusCase{"one-peer-exponential", 7, "dpsgd:order=atc", .0045651},
                      ConsensusCase{"random-matching", 8, "dpsgd", .013521, 2000, 0.02},
                      ConsensusCase{"random-matching", 8, "dpsgd:order=atc", .005744, 2000, 0.02}),
    [](const auto& info) {
      std::string name =
          info.param.topology + "_" + std::to_string(info.param.nodes) + "_" + info.param.algorithm;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace grapevine::testing
