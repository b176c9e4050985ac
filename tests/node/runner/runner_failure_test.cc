// What ends a run before its end: gradients, devices, peers and aborts, named with where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tests/node/runner/fleet.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

TEST(RunnerFailure, APeerThatDoesNotFitIsNoLostPeer) {
  for (const Failure known : {Failure::kOther, Failure::kRendezvous}) {
    Fleet fleet({.nodes = 2});
    Runner& runner = *fleet.nodes[0]->runner;
    runner.OnPeerFailed(1, WithFailure(absl::FailedPreconditionError("another topology"), known));
    const absl::Status status = fleet.nodes[0]->Run();
    EXPECT_EQ(FailureOf(status), known == Failure::kOther ? Failure::kPeerLost : known);
    EXPECT_THAT(std::string(status.message()), HasSubstr("lost rank 1 in round 0: another"));
  }
}

TEST(RunnerFailure, ALossThatIsNotANumberNamesRankAndRound) {
  const FleetOptions experiment{.nodes = 1};
  Fleet fleet(experiment);
  fleet.nodes[0]->objective->set_loss(std::numeric_limits<double>::quiet_NaN());
  const absl::Status status = fleet.Run()[0];
  EXPECT_EQ(FailureOf(status), Failure::kDiverged);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0: the loss became nan in round 0"));
}

TEST(RunnerFailure, AGradientThatIsNotFiniteIsNamed) {
  for (const auto memory : {FleetOptions::Memory::kHost, FleetOptions::Memory::kEmulatedDevice}) {
    Fleet fleet({.nodes = 1, .memory = memory});
    fleet.nodes[0]->objective->set_loss(std::numeric_limits<double>::infinity());
    fleet.nodes[0]->objective->set_gradient(std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(std::string(fleet.Run()[0].message()),
                HasSubstr("the loss became inf in round 0, and x of its gradient is not finite"));
  }
}

TEST(RunnerFailure, AGradientThatIsNotFiniteIsNamedThoughItsLossIs) {
  Fleet fleet({.nodes = 1});
  fleet.nodes[0]->objective->set_gradient(std::numeric_limits<float>::infinity());
  const absl::Status status = fleet.Run()[0];
  EXPECT_EQ(FailureOf(status), Failure::kDiverged);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0: the loss is 0.5 in round 0, and x of its gradient is not finite"));
}

// How rank 0 ends beside a rank 1 whose gradients have only elements of `gradient`.
absl::Status EndBeside(float gradient, const FleetOptions& experiment) {
  Fleet fleet(experiment);
  fleet.nodes[1]->objective->set_gradient(gradient);
  std::thread other([&] { EXPECT_FALSE(fleet.nodes[1]->Run().ok()); });
  absl::Status status = fleet.nodes[0]->Run();
  fleet.nodes[1]->runner->Abort(absl::CancelledError("rank 0 has ended"));
  other.join();
  return status;
}

// A device's gradients are not looked at; what comes of them is, by the neighbours.
TEST(RunnerFailure, ANeighboursNanIsRefusedWithTheNeighbourNamed) {
  const absl::Status status =
      EndBeside(std::numeric_limits<float>::quiet_NaN(),
                {.nodes = 2, .memory = FleetOptions::Memory::kEmulatedDevice});
  EXPECT_EQ(FailureOf(status), Failure::kDiverged) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0, round 1: refused what rank 1 sent for round 1 (channel 0, index "
                        "1, step 0), which has NaN or infinite elements: rank 1 has diverged"));
}

TEST(RunnerFailure, ANeighboursVectorAboveTheNormIsRefused) {
  for (const auto memory : {FleetOptions::Memory::kHost, FleetOptions::Memory::kEmulatedDevice}) {
    const absl::Status status = EndBeside(1e6, {.nodes = 2, .max_norm = 1000, .memory = memory});
    EXPECT_EQ(FailureOf(status), Failure::kDiverged) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rank 0, round 1: refused what rank 1 sent for round 1 (channel 0, index "
                          "1, step 0), whose norm "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(" is above --max-norm=1000"));
  }
}

// The first error of rank 0 on a device with room for so many replicas.
absl::Status RunWithMemoryFor(double replicas, const std::string& algorithm) {
  FleetOptions experiment{
      .algorithm = algorithm, .nodes = 3, .memory = FleetOptions::Memory::kEmulatedDevice};
  experiment.device.memory =
      static_cast<int64_t>(replicas * (kParameters + kBuffers)) * int64_t{sizeof(float)};
  return Fleet(experiment).nodes[0]->Run();  // its peers never run
}

TEST(RunnerFailure, ADeviceWithoutMemoryEndsTheRunAndTheErrorNamesRankRoundAndVector) {
  struct Case {
    double replicas;
    const char* algorithm;
    const char* vector;
  };
  for (const auto& [replicas, algorithm, vector] : {
           Case{0.5, "dpsgd", "the starting replica (a vector of 45 elements)"},
           Case{1.5, "dpsgd", "the optimizer's state (a vector of 41 elements)"},
           Case{2.5, "dpsgd", "a neighbour's replica (a vector of 45 elements)"},
           Case{4.5, "dpsgd", "the gradient (a vector of 45 elements)"},
           Case{2.5, "allreduce", "an allreduce's partial sums (a vector of 30 elements)"},
           Case{1.5, "ps", "the gradient (a vector of 45 elements)"},
       }) {
    const absl::Status status = RunWithMemoryFor(replicas, algorithm);
    EXPECT_EQ(FailureOf(status), Failure::kDevice) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("rank 0, round 0: no memory for ", vector)));
  }
}

TEST(RunnerFailure, ADeviceThatIsLostEndsTheRun) {
  for (const int64_t work : {1, 50, 150, 250}) {
    FleetOptions experiment{.nodes = 1, .memory = FleetOptions::Memory::kEmulatedDevice};
    experiment.device.work = work;
    Fleet fleet(experiment);
    const absl::Status status = fleet.Run()[0];
    EXPECT_EQ(FailureOf(status), Failure::kDevice) << status << " after " << work;
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0, round "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("the emulated device is lost"));
  }
}

TEST(RunnerFailure, AnAbortEndsTheRunWithItsReason) {
  const FleetOptions experiment{.nodes = 2};
  Fleet fleet(experiment);  // of which rank 1 never runs
  fleet.nodes[0]->runner->Abort(
      WithFailure(absl::CancelledError("interrupted"), Failure::kInterrupted));
  EXPECT_EQ(FailureOf(fleet.nodes[0]->Run()), Failure::kInterrupted);
}

TEST(RunnerFailure, ALostPeerIsNamedWithTheRound) {
  const FleetOptions experiment{.nodes = 2};
  Fleet fleet(experiment);  // of which rank 1 never runs
  fleet.nodes[0]->runner->OnPeerFailed(1, absl::UnavailableError("the connection broke"));
  const absl::Status status = fleet.nodes[0]->Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0 lost rank 1 in round 0: the connection broke"));
}

// Its loss may be noticed by a message to it before the mail that tells of it is read. A node
// that did not name it would be blamed itself.
TEST(RunnerFailure, APeerThatTakesNothingMoreIsTheOneThatIsLost) {
  Fleet fleet({.nodes = 2});
  fleet.nodes[1]->transport->Shutdown();
  const absl::Status status = fleet.nodes[0]->Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0 lost rank 1 in round 0: rank 1 left the run"));
  EXPECT_EQ(fleet.nodes[0]->runner->lost_peer(), 1);
}

// Otherwise a peer that was left out long ago would be blamed for what befalls this node later.
TEST(RunnerFailure, APeerWhoseLossIsSurvivedIsNotToBlame) {
  Fleet fleet({.nodes = 2, .resilient = true});
  NodeUnderTest& node = *fleet.nodes[0];
  node.objective->set_loss(std::numeric_limits<double>::quiet_NaN());
  node.runner->OnPeerFailed(1, absl::UnavailableError("the connection broke"));
  EXPECT_EQ(FailureOf(node.Run()), Failure::kDiverged);
  ASSERT_EQ(node.recorder.lost.size(), 1u);
  EXPECT_EQ(node.recorder.lost[0].first, 1);
  EXPECT_EQ(FailureOf(node.recorder.lost[0].second), Failure::kPeerLost);
  EXPECT_THAT(std::string(node.recorder.lost[0].second.message()),
              HasSubstr("rank 0 lost rank 1 in round 0: the connection broke"));
  EXPECT_EQ(node.runner->lost_peer(), std::nullopt);
}

}  // namespace
}  // namespace grapevine::testing
