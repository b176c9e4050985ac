// What is known of an algorithm by its name, and by default.
#include "algorithm/algorithm_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/failure.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

const Registration kPairs(Algorithms(), {.name = "pairs",
                                         .help = "neighbours swap: both ways or not at all",
                                         .undirected = true,
                                         .make = [](const Spec& spec, AlgorithmOptions)
                                             -> absl::StatusOr<std::unique_ptr<Algorithm>> {
                                           return SpecError(spec.text, "made");
                                         }});

std::string Refusal(const char* graph) {
  const auto mixing = *MakeMixing("metropolis", *MakeTopology(graph, 8, 1));
  const absl::Status status = MakeAlgorithm("pairs", {.mixing = mixing}).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  return std::string(status.message());
}

TEST(AlgorithmKind, IsGossipUnlessItSaysOtherwise) {
  const auto ring = *MakeTopology("ring", 8, 1);
  EXPECT_FALSE(IsCentralized("pairs"));
  EXPECT_EQ(*WorkerCount("pairs", 8), 8);
  EXPECT_EQ(*MessagesPerRound("pairs", *ring), 16);
  EXPECT_EQ(*LargestMemory("pairs", *ring), 6);
}

TEST(AlgorithmKind, RefusesAGraphThatItCannotUse) {
  EXPECT_THAT(Refusal("exponential"),
              HasSubstr("pairs: needs a graph whose edges go both ways, unlike those of "
                        "exponential; take ring"));
  EXPECT_THAT(Refusal("ring"), HasSubstr("made"));
}

TEST(AlgorithmKind, WhatIsNotKnownIsNotCentralized) {
  EXPECT_FALSE(IsCentralized("sockets"));
  EXPECT_FALSE(IsCentralized(""));
  EXPECT_EQ(FailureOf(WorkerCount("sockets", 8).status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
