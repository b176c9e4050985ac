#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/tensor/memory_plan.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

TEST(ArenaPlanTest, LifetimesThatDoNotMeetShareMemory) {
  ArenaPlan plan(64);
  const int early = plan.Add(1000);
  const int late = plan.Add(1000);
  plan.Touch(early, 0);
  plan.Touch(early, 1);
  plan.Touch(late, 2);
  plan.Touch(late, 3);
  plan.Solve();
  EXPECT_EQ(plan.offset(early), plan.offset(late));
  EXPECT_EQ(plan.bytes(), 1024);
}

TEST(ArenaPlanTest, LifetimesThatMeetInOneCallDoNot) {
  ArenaPlan plan(64);
  const int early = plan.Add(64);
  const int late = plan.Add(64);
  plan.Touch(early, 0);
  plan.Touch(early, 2);
  plan.Touch(late, 2);
  plan.Solve();
  EXPECT_NE(plan.offset(early), plan.offset(late));
  EXPECT_EQ(plan.bytes(), 128);
}

TEST(ArenaPlanTest, AGapIsFilled) {
  ArenaPlan plan(64);
  const int below = plan.Add(256);
  const int middle = plan.Add(192);
  const int small = plan.Add(64);
  plan.Touch(below, 0);
  plan.Touch(middle, 0);
  plan.Touch(middle, 5);
  plan.Touch(small, 4);
  plan.Solve();
  EXPECT_EQ(plan.offset(middle), 256);
  EXPECT_EQ(plan.offset(small), 0);
}

TEST(ArenaPlanTest, UntouchedAndEmptyRegionsCostNothing) {
  ArenaPlan plan(64);
  plan.Add(1 << 20);
  plan.Touch(plan.Add(0), 3);
  plan.Solve();
  EXPECT_EQ(plan.bytes(), 0);
}

TEST(ArenaPlanTest, RandomRegionsNeverOverlapWhileAlive) {
  struct Region {
    int index;
    int64_t bytes;
    int first, last;
  };
  for (const uint64_t seed : testing::Seeds(20)) {
    KeyedRandom random(seed, Purpose::kSyntheticData);
    ArenaPlan plan(64);
    std::vector<Region> regions;
    int64_t sum = 0;
    for (int i = 0; i < 60; ++i) {
      const auto bytes = static_cast<int64_t>(random.Below(5000));
      const auto first = static_cast<int>(random.Below(40));
      const int last = first + static_cast<int>(random.Below(10));
      regions.push_back({plan.Add(bytes), bytes, first, last});
      plan.Touch(regions.back().index, last);
      plan.Touch(regions.back().index, first);
      sum += bytes;
    }
    plan.Solve();
    EXPECT_LT(plan.bytes(), sum) << "seed " << seed;
    for (const Region& a : regions) {
      EXPECT_EQ(plan.offset(a.index) % 64, 0) << "seed " << seed;
      EXPECT_LE(plan.offset(a.index) + a.bytes, plan.bytes()) << "seed " << seed;
      for (const Region& b : regions) {
        if (a.index >= b.index || a.last < b.first || b.last < a.first) continue;
        const bool apart = plan.offset(a.index) + a.bytes <= plan.offset(b.index) ||
                           plan.offset(b.index) + b.bytes <= plan.offset(a.index);
        EXPECT_TRUE(apart) << "seed " << seed << ": regions " << a.index << " and " << b.index;
      }
    }
  }
}

}  // namespace
}  // namespace grapevine
