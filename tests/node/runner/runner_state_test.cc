// Runners save what they have while they run, and others go on from it with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/status.h"
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

// Asks all how far they may go, and names the first round that none can have completed; again and
// again, until the run has no such round. Returns all that it has named.
std::vector<Round> CallUntilTheEnd(Fleet& fleet, Round rounds) {
  std::vector<Round> named;
  for (uint32_t ballot = 1;; ++ballot) {
    Round most = named.empty() ? 0 : named.back();
    for (const auto& node : fleet.nodes) most = std::max(most, node->runner->Hold(ballot));
    const bool over = most >= rounds;
    for (const auto& node : fleet.nodes) {
      node->runner->SaveAt(ballot, over ? std::nullopt : std::optional(most + 1));
    }
    if (over) return named;
    named.push_back(most + 1);
  }
}

class CalledRunner : public ::testing::TestWithParam<const char*> {};

TEST_P(CalledRunner, SavesAfterTheRoundsThatAreNamed) {
  FleetOptions experiment{.algorithm = GetParam(), .rounds = 300, .saves_on_call = true};
  Fleet called(experiment);
  std::vector<Round> named;
  std::thread caller([&] { named = CallUntilTheEnd(called, experiment.rounds); });
  for (const absl::Status& status : called.Run()) EXPECT_TRUE(status.ok()) << status;
  caller.join();
  for (const auto& node : called.nodes) {
    std::vector<Round> saved;
    for (const SavedNode& state : node->recorder.states) saved.push_back(state.state.round);
    EXPECT_EQ(saved, named);
  }
  ASSERT_FALSE(named.empty());
  experiment.saves_on_call = false;
  Fleet undisturbed(experiment);
  for (const absl::Status& status : undisturbed.Run()) ASSERT_TRUE(status.ok()) << status;
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    EXPECT_EQ(Elements(called.nodes[rank]->runner->model()),
              Elements(undisturbed.nodes[rank]->runner->model()));
  }
  for (const size_t saved : {size_t{0}, named.size() - 1}) {
    ExpectToGoOnFrom(called, experiment, saved);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CalledRunner,
                         ::testing::Values("dpsgd", "dpsgd:order=atc", "allreduce", "sgp:overlap=2",
                                           "ps", "diloco", "slowmo"));

TEST(CalledRunners, RefuseARoundThatMayBeOver) {
  Fleet fleet({.nodes = 1, .rounds = 100, .saves_on_call = true});
  Runner& runner = *fleet.nodes[0]->runner;
  EXPECT_EQ(runner.Hold(/*ballot=*/1), 0);
  runner.SaveAt(/*ballot=*/1, 0);
  const absl::Status status = fleet.Run()[0];
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_NE(std::string(status.message()).find("rank 0 calls for a checkpoint of round 0"),
            std::string::npos)
      << status;
}

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
