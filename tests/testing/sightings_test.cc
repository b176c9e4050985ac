#include "tests/testing/sightings.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace grapevine::testing {
namespace {

// Ten cases, of which every third shows what they are about.
class SightingsTest : public ::testing::Test {
 protected:
  SightingsTest() {
    for (const char* name : {"TEST_SEED", "TEST_SEEDS", "TEST_FIRST_SEED"}) unsetenv(name);
  }

  void Play(uint64_t least) {
    played_.clear();
    PlaySeeds(10, least, [this](uint64_t seed, Sightings& seen) {
      played_.push_back(seed);
      seen.Count("a multiple of three", seed % 3 == 0);
    });
  }

  std::vector<uint64_t> played_;
};

TEST_F(SightingsTest, EachIsSeenOftenEnough) {
  Play(3);
  EXPECT_EQ(played_.size(), 10u);
  EXPECT_NONFATAL_FAILURE(Play(4),
                          "not seen 4 times in 10 cases from 1 on:\n"
                          "  a multiple of three: 3");
}

TEST_F(SightingsTest, AShareGoesOnUntilItHasSeenAll) {
  setenv("TEST_SEEDS", "1", 1);
  Play(3);
  EXPECT_EQ(played_, (std::vector<uint64_t>{1, 2, 3}));
  setenv("TEST_FIRST_SEED", "300", 1);
  Play(3);
  EXPECT_EQ(played_, (std::vector<uint64_t>{300}));
}

TEST_F(SightingsTest, WhatNoCaseShowsFailsAtAnyShare) {
  for (const char* share : {"1/1000", "1/3", "10", "30"}) {
    setenv("TEST_SEEDS", share, 1);
    EXPECT_NONFATAL_FAILURE(
        PlaySeeds(10, 1, [](uint64_t, Sightings& seen) { seen.Count("anything", 0); }),
        "anything: 0");
  }
}

TEST_F(SightingsTest, OneCaseAloneNeedShowNothing) {
  setenv("TEST_SEED", "17", 1);
  Play(3);
  EXPECT_EQ(played_, (std::vector<uint64_t>{17}));
}

}  // namespace
}  // namespace grapevine::testing
