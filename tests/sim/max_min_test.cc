// The definition of fairness, on cases with known rates and on random ones.
#include "sim/network/max_min.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "random/keyed_random.h"
#include "tests/sim/random_flows.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::vector<double> Rates(const std::vector<double>& capacities,
                          const std::vector<MaxMinFlow>& flows) {
  return MaxMinRates(capacities, flows);
}

TEST(MaxMinTest, AFlowAloneGetsTheNarrowestLinkOfItsPath) {
  const std::vector<LinkId> path = {0, 2, 1};
  EXPECT_THAT(Rates({3, 7, 2}, {{.route = path}}), ElementsAre(2));
}

TEST(MaxMinTest, EqualFlowsDivideALinkEqually) {
  const std::vector<LinkId> link = {0};
  for (int k : {1, 2, 3, 7, 100}) {
    const std::vector<double> rates = Rates({5}, std::vector<MaxMinFlow>(k, {.route = link}));
    for (double rate : rates) EXPECT_DOUBLE_EQ(rate, 5.0 / k);
  }
}

TEST(MaxMinTest, WhatOneCannotUseIsForTheOthers) {
  // Bertsekas and Gallager's example: three flows on a link of 1, two of which go
  // on over a link of 2 that a fourth uses.
  const std::vector<LinkId> first = {0}, both = {0, 1}, second = {1};
  EXPECT_THAT(
      Rates({1, 2}, {{first}, {both}, {both}, {second}}),
      ElementsAre(DoubleEq(1.0 / 3), DoubleEq(1.0 / 3), DoubleEq(1.0 / 3), DoubleEq(4.0 / 3)));
  EXPECT_THAT(Rates({1, 2}, {{first, 0.1}, {both}, {both, 5}, {second}}),
              ElementsAre(0.1, DoubleEq(0.45), DoubleEq(0.45), DoubleEq(1.1)));
}

TEST(MaxMinTest, WithoutLinksAFlowHasItsOwnLimit) {
  EXPECT_THAT(Rates({}, {{.route = {}, .max_rate = 4}}), ElementsAre(4));
  EXPECT_TRUE(Rates({1}, {}).empty());
}

TEST(MaxMinTest, NoRateCanRiseWithoutLoweringOneAtOrBelowIt) {
  for (const uint64_t seed : testing::Seeds(200)) {
    SCOPED_TRACE(seed);
    const RandomFlows random(seed);
    ExpectMaxMinFair(random.capacities(), random.flows(),
                     MaxMinRates(random.capacities(), random.flows()));
  }
}

}  // namespace
}  // namespace grapevine
