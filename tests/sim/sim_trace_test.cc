
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "run/timing/compute_time.h"
#include "run/trace/chrome_trace.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/step_observers.h"
#include "tests/sim/timed_run.h"
#include "tests/testing/trace_file.h"

namespace grapevine::testing {
namespace {

double Seconds(const std::vector<TraceSlice>& slices) {
  double seconds = 0;
  for (const TraceSlice& slice : slices) {
    seconds += 1e-9 * static_cast<double>(slice.end - slice.begin);
  }
  return seconds;
}

class SimTraces : public ::testing::TestWithParam<const char*> {};

TEST_P(SimTraces, TellWhatTheStatisticsCount) {
  constexpr Rank kNodes = 6;
  constexpr Round kRounds = 5;
  std::string name = GetParam();
  std::ranges::replace(name, ':', '-');
  const std::string path = ::testing::TempDir() + "/sim-" + name + ".json";
  const auto trace = *ChromeTrace::Create(path);
  SimTrace sim_trace(kNodes, trace.get());
  StepStatistics statistics({.nodes = kNodes});
  ObserverGroup observers;
  observers.Add(&sim_trace);
  observers.Add(&statistics);
  const TimedRun run{.algorithm = GetParam(),
                     .nodes = kNodes,
                     .rounds = kRounds,
                     .network = {.bandwidth = 0.125, .latency = kMillisecond},
                     .compute = WithStragglers(*MakeComputeTime("normal:mean=10ms:sd=2ms", 4),
                                               *Stragglers::Make("rank=2:factor=3", {}, kNodes, 1)),
                     .memory_bandwidth = 5,
                     .message_overhead = 10'000,
                     .observer = &observers};
  run.Last();
  ASSERT_TRUE(trace->Finish().ok());

  const TraceFile file(path);
  file.ExpectWellFormed();
  const Statistics counted = statistics.Result();
  const auto steps = static_cast<double>(counted.steps.count());
  EXPECT_EQ(file.Named("round ").size(), kNodes * kRounds);
  EXPECT_EQ(file.Named("gradient").size(), kNodes * kRounds);
  EXPECT_NEAR(Seconds(file.Named("round ")), steps * counted.steps.mean() * 1e-9, 1e-9);
  EXPECT_NEAR(Seconds(file.Named("gradient")), steps * counted.gradient_s, 1e-9);
  EXPECT_NEAR(Seconds(file.Named("mix")), steps * counted.mix_s, 1e-9);
  EXPECT_NEAR(Seconds(file.Named("wait for ")), steps * counted.wait_s, 1e-7);
  int64_t bytes = 0;
  for (const TraceSlice& slice : file.Named("to "))
    bytes += slice.arguments["bytes"].get<int64_t>();
  EXPECT_EQ(bytes, counted.bytes_sent.mean * kNodes);
  EXPECT_EQ(file.Named("to ").size(), file.Named("from ").size());
  EXPECT_EQ(file.ExpectArrows(), static_cast<int>(file.Named("from ").size()));
}

INSTANTIATE_TEST_SUITE_P(All, SimTraces,
                         ::testing::Values("dpsgd", "dpsgd:order=atc", "allreduce"));

}  // namespace
}  // namespace grapevine::testing
