// Runners save what they have while they run, and others go on from it with the same bits.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/failure.h"
#include "tests/node/runner/fleet.h"

namespace grapevine::testing {
namespace {

std::vector<float> Elements(const SharedVector& vector) {
  return {vector.span().begin(), vector.span().end()};
}

void ExpectToGoOnFrom(const Fleet& whole, FleetOptions experiment, size_t saved) {
  SCOPED_TRACE(saved);
  experiment.saved = {};
  Fleet resumed(experiment);
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    resumed.nodes[rank]->runner->GoOnFrom(whole.nodes[rank]->recorder.states[saved]);
  }
  for (const absl::Status& status : resumed.Run()) ASSERT_TRUE(status.ok()) << status;
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    EXPECT_EQ(Elements(resumed.nodes[rank]->runner->model()),
              Elements(whole.nodes[rank]->runner->model()))
        << "rank " << rank;
  }
}

class SavedRunner : public ::testing::TestWithParam<std::tuple<const char*, FleetOptions::Memory>> {
};

// On a device, streams do everything as late as they may: what is copied must be what was there.
TEST_P(SavedRunner, GoesOnWithTheSameBits) {
  const auto [algorithm, memory] = GetParam();
  const FleetOptions experiment{
      .algorithm = algorithm, .rounds = 12, .memory = memory, .saved = [](Round completed) {
        return completed % 3 == 0;
      }};
  Fleet whole(experiment);
  for (const absl::Status& status : whole.Run()) ASSERT_TRUE(status.ok()) << status;
  for (const auto& node : whole.nodes) {
    ASSERT_GE(node->recorder.states.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(node->recorder.states[i].state.round, 3 * static_cast<Round>(i + 1));
    }
  }
  for (const size_t saved : {0, 2}) ExpectToGoOnFrom(whole, experiment, saved);
}

INSTANTIATE_TEST_SUITE_P(
    All, SavedRunner,
    ::testing::Combine(
        ::testing::Values("dpsgd", "dpsgd:order=atc", "allreduce", "sgp:overlap=2", "ps", "diloco"),
        ::testing::Values(FleetOptions::Memory::kHost, FleetOptions::Memory::kEmulatedDevice)));

// Whose optimizer keeps nothing.
TEST(SavedRunner, GoesOnWithoutMomentumOnADevice) {
  const FleetOptions experiment{.rounds = 6,
                                .momentum = 0,
                                .memory = FleetOptions::Memory::kEmulatedDevice,
                                .saved = [](Round completed) { return completed == 3; }};
  Fleet whole(experiment);
  for (const absl::Status& status : whole.Run()) ASSERT_TRUE(status.ok()) << status;
  ExpectToGoOnFrom(whole, experiment, 0);
}

TEST(SavedRunner, IsRefusedAStateThatIsNotItsOwn) {
  Fleet fleet({.nodes = 1});
  SavedNode saved;
  saved.state = {.round = 3, .vectors = {{"replica", NewSharedVector(5)}}};
  fleet.nodes[0]->runner->GoOnFrom(saved);
  const absl::Status status = fleet.Run()[0];
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_NE(std::string(status.message()).find("the saved state of rank 0 has 5 elements of"),
            std::string::npos)
      << status;
}

// One state is being written, the next one waits; nobody skips any.
TEST(SavedRunner, WaitsForADiskThatIsSlowerThanItsRounds) {
  Fleet fleet({.nodes = 1, .rounds = 6, .saved = [](Round) { return true; }});
  NodeUnderTest& node = *fleet.nodes[0];
  node.recorder.keeps_states = true;
  const auto initialize = [&](float* replica) {
    node.objective->Initialize(replica);
    return absl::OkStatus();
  };
  ASSERT_TRUE(node.runner->BeginRun(node.transport.get(), initialize).ok());
  for (size_t round = 1; round <= 6; ++round) {
    while (node.recorder.states.size() < round) ASSERT_TRUE(node.runner->HandleMail().ok());
    while (round < 6 && node.runner->progress().doing != "writing a checkpoint") {
      ASSERT_TRUE(node.runner->HandleMail().ok());
    }
    EXPECT_EQ(node.recorder.states.size(), round);
    node.runner->OnStateWritten();
  }
  while (!node.runner->finished()) ASSERT_TRUE(node.runner->HandleMail().ok());
  EXPECT_EQ(node.recorder.states.size(), 6u);
  node.runner->EndRun();
}

}  // namespace
}  // namespace grapevine::testing
