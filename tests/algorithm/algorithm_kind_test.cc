// What is known of an algorithm by its name, and by default.
#include "algorithm/algorithm_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
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

// Some specs of an algorithm may have rounds.
const Registration kPushes(
    Algorithms(),
    {.name = "pushes",
     .options = "[:async]",
     .help = "to a neighbour, who may wait or not",
     .make = [](const Spec& spec, AlgorithmOptions) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
       return SpecError(spec.text, "made");
     },
     .rounds = [](const Spec& spec) { return spec.arguments.empty(); }});

std::string Refusal(const char* graph, const char* algorithm = "pairs") {
  const auto mixing = *MakeMixing("metropolis", *MakeTopology(graph, 8, 1));
  const absl::Status status = MakeAlgorithm(algorithm, {.mixing = mixing}).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  return std::string(status.message());
}

TEST(AlgorithmKind, IsGossipUnlessItSaysOtherwise) {
  const auto ring = *MakeTopology("ring", 8, 1);
  EXPECT_FALSE(IsCentralized("pairs"));
  EXPECT_TRUE(HasRounds("pairs"));
  EXPECT_EQ(*WorkerCount("pairs", 8), 8);
  EXPECT_EQ(*MessagesPerRound("pairs", *ring, {}), 16);
  EXPECT_EQ(*LargestMemory("pairs", *ring, 1000, 1), 6000);
  EXPECT_EQ(*LargestMemory("pairs", *ring, 1000, 2), 7000);
}

TEST(AlgorithmKind, RefusesAGraphThatItCannotUse) {
  EXPECT_THAT(Refusal("exponential"),
              HasSubstr("pairs: needs a graph whose edges go both ways, unlike those of "
                        "exponential; take ring"));
  EXPECT_THAT(Refusal("ring"), HasSubstr("made"));
}

TEST(AlgorithmKind, WithoutRoundsItRefusesAGraphThatChangesWithThem) {
  EXPECT_FALSE(HasRounds("pushes:async"));
  EXPECT_TRUE(HasRounds("pushes"));
  for (const char* graph : {"one-peer-exponential", "random-matching"}) {
    EXPECT_THAT(
        Refusal(graph, "pushes:async"),
        HasSubstr(absl::StrCat("pushes:async: its nodes go through no rounds together, and ", graph,
                               " changes with the round; take ring")));
    EXPECT_THAT(Refusal(graph, "pushes"), HasSubstr("made"));
  }
  EXPECT_THAT(Refusal("exponential", "pushes:async"), HasSubstr("made"));
}

TEST(AlgorithmKind, WhatIsNotKnownHasRoundsAndIsNotCentralized) {
  EXPECT_TRUE(HasRounds("sockets"));
  EXPECT_FALSE(IsCentralized("sockets"));
  EXPECT_FALSE(IsCentralized(""));
  EXPECT_EQ(FailureOf(WorkerCount("sockets", 8).status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
