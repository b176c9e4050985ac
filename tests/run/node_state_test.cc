// A node's state from an algorithm to a value and back: what the visitors refuse.
#include "run/checkpoint/node_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SharedVector VectorOf(std::initializer_list<float> elements) {
  const SharedVector vector = NewSharedVector(static_cast<int64_t>(elements.size()));
  std::ranges::copy(elements, vector.data.get());
  return vector;
}

// Vectors by handle, as a driver has them.
struct Memory {
  std::map<uint32_t, SharedVector> vectors;

  SharedVector Copy(Vec vector) const {
    const SharedVector& from = vectors.at(vector.id);
    const SharedVector copy = NewSharedVector(from.size);
    std::ranges::copy(from.span(), copy.data.get());
    return copy;
  }
  StateRestorer::Vectors Access() {
    return {.size = [this](Vec vector) { return vectors.at(vector.id).size; },
            .fill =
                [this](Vec vector, std::span<const float> saved) {
                  std::ranges::copy(saved, vectors.at(vector.id).data.get());
                }};
  }
};

constexpr Vec kReplica{1}, kSlot{2};
constexpr Tag kTag{.channel = 0, .index = 4, .step = 0};

TEST(StateSaver, TakesAMessageThatArrivesLater) {
  Memory memory{{{kReplica.id, VectorOf({1, 2})}, {kSlot.id, VectorOf({0, 0})}}};
  StateSaver saver(5, kReplica, [&](Vec vector) { return memory.Copy(vector); });
  double weight = 1;
  saver.Vector("replica", kReplica);
  saver.Message("slot",
                {.from = 3, .tag = kTag, .arrived = false, .vector = kSlot, .weight = &weight});
  EXPECT_FALSE(saver.complete());
  memory.vectors.at(kReplica.id).data[0] = 7;  // the next round's

  saver.OnReceived({.from = 2, .tag = kTag});
  saver.OnReceived({.from = 3, .tag = {.index = 5}});
  EXPECT_FALSE(saver.complete());
  memory.vectors.at(kSlot.id).data[1] = 9;
  saver.OnReceived({.from = 3, .tag = kTag, .note = {.weight = 0.25}});
  ASSERT_TRUE(saver.complete());
  EXPECT_EQ(saver.state().round, 5);
  EXPECT_EQ(saver.state().model, "replica");
  EXPECT_THAT(saver.state().vectors.at("replica").span(), ElementsAre(1, 2));
  EXPECT_THAT(saver.state().vectors.at("slot").span(), ElementsAre(0, 9));
  EXPECT_EQ(saver.state().numbers.at("slot.weight"), 0.25);
}

NodeState Saved() {
  return {.round = 5,
          .vectors = {{"replica", VectorOf({1, 2})}, {"slot", VectorOf({3, 4})}},
          .numbers = {{"begun", 2}, {"slot.weight", 0.5}}};
}

// Restores what an algorithm with these parts shows.
absl::Status Restore(const NodeState& state, Memory* memory, int64_t* begun, double* weight) {
  StateRestorer restorer(&state, memory->Access());
  restorer.Vector("replica", kReplica);
  restorer.Rounds("begun", begun);
  restorer.Message("slot",
                   {.from = 3, .tag = kTag, .arrived = true, .vector = kSlot, .weight = weight});
  return restorer.Finish();
}

std::string Refusal(const NodeState& state) {
  Memory memory{{{kReplica.id, VectorOf({0, 0})}, {kSlot.id, VectorOf({0, 0})}}};
  int64_t begun = 0;
  double weight = 1;
  return std::string(Restore(state, &memory, &begun, &weight).message());
}

TEST(StateRestorer, OverwritesAllThatItIsShown) {
  Memory memory{{{kReplica.id, VectorOf({0, 0})}, {kSlot.id, VectorOf({0, 0})}}};
  int64_t begun = 0;
  double weight = 1;
  const absl::Status status = Restore(Saved(), &memory, &begun, &weight);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(memory.vectors.at(kReplica.id).span(), ElementsAre(1, 2));
  EXPECT_THAT(memory.vectors.at(kSlot.id).span(), ElementsAre(3, 4));
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(weight, 0.5);
}

TEST(StateRestorer, RefusesWhatDoesNotFitTheAlgorithm) {
  NodeState state = Saved();
  state.vectors.erase("slot");
  EXPECT_EQ(Refusal(state), "lacks the vector slot");
  state = Saved();
  state.vectors["replica"] = VectorOf({1, 2, 3});
  EXPECT_EQ(Refusal(state), "has 3 elements of replica, which has 2");
  state = Saved();
  state.numbers.erase("slot.weight");
  EXPECT_EQ(Refusal(state), "lacks the number slot.weight");
  state = Saved();
  state.vectors["centre"] = VectorOf({1});
  EXPECT_EQ(Refusal(state), "has centre, for which the algorithm has no use");
  state = Saved();
  state.numbers["weight"] = 1;
  EXPECT_EQ(Refusal(state), "has weight, for which the algorithm has no use");
}

TEST(StateRestorer, RefusesNumbersThatAreNone) {
  NodeState state = Saved();
  state.numbers["slot.weight"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Refusal(state), "says that slot.weight is nan");
  for (const double rounds : {-1.0, 1.5, 6.0, 1e300}) {
    state = Saved();
    state.numbers["begun"] = rounds;
    EXPECT_THAT(Refusal(state), HasSubstr("and not a number of rounds up to 5"));
  }
}

}  // namespace
}  // namespace grapevine
