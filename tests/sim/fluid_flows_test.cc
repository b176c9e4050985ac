// Progress of flows whose rates change: when they end, and which alarms tell it.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "random/keyed_random.h"
#include "sim/network/fluid_networks.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

struct Alarm {
  FlowId flow;
  uint32_t version;
  Nanoseconds when;
};

class RecordedAlarms final : public AlarmClock {
 public:
  void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) override {
    alarms.push_back({flow, version, when});
  }
  std::vector<Alarm> alarms;
};

TEST(FluidFlowsTest, AFlowEndsAfterItsBytesAtItsRate) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 1000, 50);
  EXPECT_EQ(flows.rate(0), 0);
  flows.SetRate(0, 4, 50);
  EXPECT_EQ(flows.rate(0), 4);
  ASSERT_EQ(clock.alarms.size(), 1);
  EXPECT_EQ(clock.alarms[0].when, 300);
  EXPECT_TRUE(flows.OnAlarm(0, clock.alarms[0].version, 300));
}

TEST(FluidFlowsTest, EndsAreRoundedUpToWholeNanoseconds) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 10, 0);
  flows.SetRate(0, 3, 0);
  EXPECT_EQ(clock.alarms[0].when, 4);
  // But what rounding leaves of a byte is none.
  flows.Begin(1, 0.3, 0);
  flows.SetRate(1, 0.1, 0);
  EXPECT_EQ(clock.alarms[1].when, 3);
}

TEST(FluidFlowsTest, ASlowerFlowRingsEarlyAndIsSetAgain) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 100, 0);
  flows.SetRate(0, 1, 0);
  flows.SetRate(0, 0.5, 50);
  // No new alarm: the one at 100 sees to it.
  ASSERT_EQ(clock.alarms.size(), 1);
  EXPECT_FALSE(flows.OnAlarm(0, clock.alarms[0].version, 100));
  ASSERT_EQ(clock.alarms.size(), 2);
  EXPECT_EQ(clock.alarms[1].when, 150);
  EXPECT_TRUE(flows.OnAlarm(0, clock.alarms[1].version, 150));
}

TEST(FluidFlowsTest, AFasterFlowOvertakesItsAlarm) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 100, 0);
  flows.SetRate(0, 1, 0);
  flows.SetRate(0, 5, 50);
  ASSERT_EQ(clock.alarms.size(), 2);
  EXPECT_EQ(clock.alarms[1].when, 60);
  EXPECT_TRUE(flows.OnAlarm(0, clock.alarms[1].version, 60));
  // The slot is used again before the old alarm rings.
  flows.Begin(0, 100, 70);
  flows.SetRate(0, 1, 70);
  EXPECT_FALSE(flows.OnAlarm(0, clock.alarms[0].version, 100));
  EXPECT_TRUE(flows.OnAlarm(0, clock.alarms[2].version, 170));
}

TEST(FluidFlowsTest, AStoppedFlowRingsNotAtAll) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 100, 0);
  flows.SetRate(0, 0, 0);
  EXPECT_TRUE(clock.alarms.empty());
  flows.SetRate(0, 1, 1000);
  ASSERT_EQ(clock.alarms.size(), 1);
  EXPECT_EQ(clock.alarms[0].when, 1100);
}

TEST(FluidFlowsTest, AFlowWithoutBytesEndsAtOnce) {
  RecordedAlarms clock;
  FluidFlows flows(&clock);
  flows.Begin(0, 0, 5);
  flows.SetRate(0, 2, 5);
  ASSERT_EQ(clock.alarms.size(), 1);
  EXPECT_EQ(clock.alarms[0].when, 5);
  EXPECT_TRUE(flows.OnAlarm(0, clock.alarms[0].version, 5));
}

TEST(FluidFlowsTest, RandomRatesMoveAllBytes) {
  for (const uint64_t seed : testing::Seeds(100)) {
    SCOPED_TRACE(seed);
    KeyedRandom random(seed, Purpose::kTopology);
    RecordedAlarms clock;
    FluidFlows flows(&clock);
    const double bytes = 1 + random.Unit() * 1e9;
    Nanoseconds now = static_cast<Nanoseconds>(random.Below(1000));
    flows.Begin(0, bytes, now);
    double moved = 0;
    bool ended = false;
    while (!ended) {
      const double rate = 0.01 + random.Unit();
      flows.SetRate(0, rate, now);
      // The next change of rate, or what rings before it.
      Nanoseconds until = now + 1 + static_cast<Nanoseconds>(random.Below(200'000'000));
      while (!ended && clock.alarms.back().when <= until) {
        const Alarm alarm = clock.alarms.back();
        ended = flows.OnAlarm(0, alarm.version, alarm.when);
        if (ended) until = alarm.when;
      }
      moved += rate * static_cast<double>(until - now);
      now = until;
    }
    // Within a nanosecond's bytes.
    EXPECT_GE(moved, bytes * (1 - 1e-9));
    EXPECT_LE(moved, bytes * (1 + 1e-9) + 1.01);
  }
}

}  // namespace
}  // namespace grapevine
