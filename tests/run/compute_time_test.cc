#include "run/timing/compute_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kSeed = 17;
constexpr double kMilli = 1e6;

std::unique_ptr<const ComputeTime> Make(const std::string& spec, uint64_t seed = kSeed) {
  auto made = MakeComputeTime(spec, seed);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// Draws of many ranks and rounds, ascending, in milliseconds.
std::vector<double> Draws(const std::string& spec) {
  std::printf("%s, seed %d\n", spec.c_str(), static_cast<int>(kSeed));
  const auto compute = Make(spec);
  std::vector<double> draws;
  for (Rank rank = 0; rank < 100; ++rank) {
    for (Round round = 0; round < 1000; ++round) {
      draws.push_back(static_cast<double>(compute->Gradient(rank, round)) / kMilli);
    }
  }
  std::ranges::sort(draws);
  return draws;
}

double Mean(const std::vector<double>& draws) {
  double sum = 0;
  for (double draw : draws) sum += draw;
  return sum / static_cast<double>(draws.size());
}

double Quantile(const std::vector<double>& draws, double q) {
  return draws[static_cast<size_t>(q * static_cast<double>(draws.size()))];
}

// The largest distance between the draws' distribution and `cdf`, times sqrt(n)
// (Kolmogorov and Smirnov): above 1.95 with probability 0.001.
template <typename Cdf>
double Misfit(const std::vector<double>& draws, Cdf cdf) {
  const auto n = static_cast<double>(draws.size());
  double worst = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    const double p = cdf(draws[i]);
    const auto rank = static_cast<double>(i);
    worst = std::max({worst, (rank + 1) / n - p, p - rank / n});
  }
  return worst * std::sqrt(n);
}

TEST(ComputeTime, FixedIsFixed) {
  EXPECT_EQ(Make("10ms")->Gradient(3, 99), 10'000'000);
  EXPECT_EQ(Make("0")->Gradient(0, 0), 0);
  EXPECT_EQ(FixedComputeTime(7).Gradient(1, 2), 7);
}

TEST(ComputeTime, NormalHasItsDistribution) {
  const auto draws = Draws("normal:mean=10ms:sd=1ms");
  EXPECT_NEAR(Mean(draws), 10, 5 / std::sqrt(1e5));
  EXPECT_LT(Misfit(draws, [](double x) { return 0.5 * std::erfc((10 - x) / std::sqrt(2)); }), 1.95);
}

TEST(ComputeTime, NormalIsNeverShorterThanAHundredthOfItsMean) {
  const auto draws = Draws("normal:mean=10ms:sd=10ms");
  EXPECT_EQ(draws.front(), 0.1);
  EXPECT_NEAR(Quantile(draws, 0.5), 10, 0.2);
}

TEST(ComputeTime, ExponentialHasItsDistribution) {
  const auto draws = Draws("exponential:mean=10ms");
  EXPECT_NEAR(Mean(draws), 10, 5 * 10 / std::sqrt(1e5));
  EXPECT_LT(Misfit(draws, [](double x) { return 1 - std::exp(-x / 10); }), 1.95);
}

TEST(ComputeTime, LogNormalHasItsDistribution) {
  const auto draws = Draws("lognormal:median=10ms:sigma=0.3");
  EXPECT_NEAR(Mean(draws), 10 * std::exp(0.045), 0.05);
  EXPECT_LT(
      Misfit(draws,
             [](double x) { return 0.5 * std::erfc(-std::log(x / 10) / (0.3 * std::sqrt(2))); }),
      1.95);
}

TEST(ComputeTime, ParetoHasItsDistribution) {
  const auto draws = Draws("pareto:min=8ms:alpha=3");
  EXPECT_GE(draws.front(), 8);
  EXPECT_NEAR(Mean(draws), 12, 0.15);
  EXPECT_LT(Misfit(draws, [](double x) { return 1 - std::pow(8 / x, 3); }), 1.95);
}

// To the nanosecond, on every machine.
TEST(ComputeTime, DrawsArePinned) {
  const std::pair<const char*, int64_t> golden[] = {
      {"normal:mean=10ms:sd=1ms", 9374648},
      {"exponential:mean=10ms", 1077050},
      {"lognormal:median=10ms:sigma=0.3", 8289416},
      {"pareto:min=8ms:alpha=3", 8292431},
  };
  for (const auto& [spec, time] : golden) EXPECT_EQ(Make(spec, 1)->Gradient(2, 3), time) << spec;
}

TEST(ComputeTime, DependsOnSeedRankAndRoundAlone) {
  const char* spec = "exponential:mean=10ms";
  const auto compute = Make(spec);
  const int64_t time = compute->Gradient(4, 5);
  EXPECT_EQ(compute->Gradient(4, 5), time);
  EXPECT_EQ(Make(spec)->Gradient(4, 5), time);
  EXPECT_NE(Make(spec, kSeed + 1)->Gradient(4, 5), time);
  EXPECT_NE(compute->Gradient(5, 5), time);
  EXPECT_NE(compute->Gradient(4, 6), time);
}

TEST(ComputeTime, StaysWithinWhatAGradientMayTake) {
  EXPECT_EQ(ToGradientTime(1e300), kLongestGradient);
  EXPECT_EQ(ToGradientTime(std::nan("")), kLongestGradient);
  EXPECT_EQ(ToGradientTime(-1), 0);
  EXPECT_EQ(ToGradientTime(1.5), 2);
}

TEST(ComputeTime, RefusesWhatIsNone) {
  const std::pair<const char*, const char*> cases[] = {
      {"10", "\"10\" is not a duration"},
      {"-3ms", "it is negative"},
      {"1000h", "1000h is longer than a gradient may take"},
      {"10ms:sd=1ms", "unknown option 'sd'"},
      {"gauss:mean=10ms", "must be a time such as 10ms, normal:..., exponential:..."},
      {"normal:mean=10ms", "needs sd=TIME"},
      {"normal:sd=10ms", "needs mean=TIME, for example mean=10ms"},
      {"normal:mean=ten:sd=1ms", "\"ten\" is not a duration"},
      {"normal:mean=0ms:sd=1ms", "option mean: must be positive"},
      {"normal:mean=10ms:deviation=1ms", "unknown option 'deviation'; normal knows mean, sd"},
      {"exponential:mean=10ms:5", "unexpected '5'"},
      {"lognormal:median=1ms:sigma=-1", "option sigma: -1 is less than 0"},
      {"lognormal:median=1ms:sigma=0", "option sigma: must be more than 0"},
      {"lognormal:median=1ms:sigma=9", "option sigma: 9 is more than 5"},
      {"pareto:min=1ms:alpha=nan", "option alpha: 'nan' is not a finite number"},
      {"pareto:min=1ms:alpha=1", "option alpha: must be more than 1"},
      {"pareto:min=1ms", "needs alpha=NUMBER"},
  };
  for (const auto& [spec, why] : cases) {
    const absl::Status status = MakeComputeTime(spec, 1).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << spec;
    EXPECT_THAT(std::string(status.message()), StartsWith(std::string("--compute=") + spec + ": "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
  EXPECT_THAT(std::string(MakeComputeTime("", 1).status().message()), StartsWith("--compute: "));
}

TEST(WithPasses, ARoundTakesAsLongAsItsPasses) {
  const auto passes = [](Round round) { return Passes{.first = 3 * round, .count = 3}; };
  EXPECT_EQ(WithPasses(Make("10ms"), passes)->Gradient(0, 7), 30'000'000);
  const std::string spec = "exponential:mean=10ms";
  const auto single = Make(spec);
  EXPECT_EQ(WithPasses(Make(spec), passes)->Gradient(2, 5),
            single->Gradient(2, 15) + single->Gradient(2, 16) + single->Gradient(2, 17));
}

// Counting them one by one would not end.
TEST(WithPasses, ThatTakeTheSameAreMultiplied) {
  const auto passes = [](Round) { return Passes{.first = 0, .count = int64_t{1} << 62}; };
  for (const int64_t time : {0, 1, 1'000'000}) {
    EXPECT_EQ(WithPasses(std::make_unique<FixedComputeTime>(time), passes)->Gradient(0, 0),
              time == 0 ? 0 : kLongestGradient);
  }
}

TEST(WithPasses, ARoundTakesNoLongerThanAGradientMay) {
  const auto passes = [](Round) { return Passes{.first = 0, .count = int64_t{1} << 40}; };
  EXPECT_EQ(
      WithPasses(std::make_unique<FixedComputeTime>(kLongestGradient / 2), passes)->Gradient(0, 0),
      kLongestGradient);
}

}  // namespace
}  // namespace grapevine
