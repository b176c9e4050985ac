// Runs over gRPC, recorded and replayed by the program: they end in the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Method {
  std::string algorithm, topology = "ring";
  int nodes = 4;
  std::string mixing = "metropolis";
  std::string program = "grapevine";
  friend std::ostream& operator<<(std::ostream& out, const Method& method) {
    return out << method.algorithm << " on " << method.topology << " of " << method.nodes;
  }
};

std::vector<std::string> Training(const Method& method, const ScratchFolder& folder,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> call = {"train",
                                   "-n",
                                   std::to_string(method.nodes),
                                   "--algorithm=" + method.algorithm,
                                   "--topology=" + method.topology,
                                   "--mixing=" + method.mixing,
                                   "--data=synthetic:train=512:test=100",
                                   "--batch=8",
                                   "--out=" + folder.File("run"),
                                   "--record=" + folder.File("run.rec")};
  if (more.empty()) more = {"--model=lenet5", "--rounds=20"};
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

class ReplayParity : public ::testing::TestWithParam<Method> {};

TEST_P(ReplayParity, ARecordedRunOverGrpcEndsInTheSameBits) {
  const ScratchFolder folder;
  const Method& method = GetParam();
  const GrapevineProcess::Options options{.program = method.program};
  const Ended trained = RunGrapevine(Training(method, folder), options);
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_THAT(trained.output,
              HasSubstr("run it again: grapevine replay " + folder.File("run.rec")));
  for (int rank = 0; rank < method.nodes; ++rank) {
    EXPECT_FALSE(std::filesystem::exists(folder.File("run") + "/node-" + std::to_string(rank) +
                                         "/events.rec"));
  }
  const Ended replayed = RunGrapevine({"replay", folder.File("run.rec")}, options);
  EXPECT_EQ(replayed.exit_code, 0) << replayed.output;
  EXPECT_THAT(replayed.output,
              ContainsRegex("replayed " + std::to_string(method.nodes) +
                            " nodes, [0-9,]+ events: every replica ends in the recorded bits\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Methods, ReplayParity,
    ::testing::Values(Method{"dpsgd"}, Method{"dpsgd:order=atc", "one-peer-exponential"},
                      Method{"allreduce:buckets=4"}, Method{"adpsgd"},
                      Method{"downpour:window=3:servers=2", "ring", 5}, Method{"adag:window=3"},
                      Method{"easgd:async"}, Method{"ps:async:servers=2", "ring", 5},
                      Method{"ps:async:adaptive", "ring", 4},
                      Method{"ps:async:staleness=2", "ring", 4}, Method{"ps:servers=2", "ring", 5},
                      Method{"sgp:overlap=1", "one-peer-exponential", 4, "out-degree"}));

class ReplayOfARun : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ended ended =
        RunGrapevine(Training({"dpsgd"}, folder_, {"--model=softmax", "--rounds=6"}));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    recording_ = FileText(folder_.File("run.rec"));
  }
  Ended Replay(const std::string& bytes) {
    return RunGrapevine({"replay", folder_.Write("changed.rec", bytes)});
  }

  ScratchFolder folder_;
  std::string recording_;
};

TEST_F(ReplayOfARun, ADamagedOrIncompleteRecordingIsRefused) {
  const size_t second = recording_.find("grapevine-recording-1\n", 1);
  ASSERT_NE(second, std::string::npos);
  std::string flipped = recording_;
  flipped[second - 20] ^= 4;  // in what rank 0 recorded
  Ended ended = Replay(flipped);
  EXPECT_EQ(ended.exit_code, kInput);
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("grapevine replay: "), HasSubstr("changed.rec: rank 0, "),
                    HasSubstr("offset "), HasSubstr("take another copy, or record the run again")));

  ended = Replay(recording_.substr(second));
  EXPECT_EQ(ended.exit_code, kInput);
  EXPECT_THAT(ended.output, HasSubstr("of 4 nodes these have no recording here: rank 0; give"));

  ended = Replay(recording_ + recording_.substr(0, second));
  EXPECT_EQ(ended.exit_code, kInput);
  EXPECT_THAT(ended.output, HasSubstr("give each rank once"));
}

TEST_F(ReplayOfARun, PartsInSeveralFilesAreOneRun) {
  const size_t second = recording_.find("grapevine-recording-1\n", 1);
  const Ended ended = RunGrapevine({"replay", folder_.Write("rest.rec", recording_.substr(second)),
                                    folder_.Write("first.rec", recording_.substr(0, second))});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
}

TEST(Recording, OfANodeThatDiedIsReplayedAsFarAsItGoes) {
  const ScratchFolder folder;
  GrapevineProcess run(
      Training({"dpsgd", "ring", 3}, folder,
               {"--model=softmax", "--rounds=1000000", "--log-every=1", "--peer-timeout=2s"}));
  ASSERT_TRUE(run.AwaitOutput("round 500/")) << run.output();
  ASSERT_NE(run.Node(1), 0);
  ASSERT_EQ(kill(run.Node(1), SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_FALSE(std::filesystem::exists(folder.File("run.rec"))) << "whole, or not at all";
  std::vector<std::string> call = {"replay"};
  for (const char* rank : {"0", "1", "2"}) {
    call.push_back(folder.File("run") + "/node-" + rank + "/events.rec");
  }
  const Ended replayed = RunGrapevine(call);
  EXPECT_EQ(replayed.exit_code, kInput);
  EXPECT_THAT(replayed.output,
              AllOf(ContainsRegex("replayed [1-9][0-9]+ of [0-9]+ events without a contradiction, "
                                  "but no final bits are recorded to compare"),
                    HasSubstr("node-0/events.rec breaks off after event ")));
}

TEST(Recording, WhatCannotBeRecordedIsRefusedWithTheRemedy) {
  const ScratchFolder folder;
  const std::string record = "--record=" + folder.File("run.rec");
  Ended ended = RunGrapevine({"sim", "--model=softmax", "--rounds=5", record});
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, AllOf(HasSubstr(record + ": a simulation repeats itself"),
                                  HasSubstr("record real nodes with `grapevine train`")));
  ended = RunGrapevine({"train", "--model=softmax", "--rounds=5", "--device=cuda", record});
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, HasSubstr(record + ": a replay computes on the CPU, whose bits a GPU's "
                                               "are not; drop --device=cuda"));
  ended = RunGrapevine({"train", "--model=phantom:1MB", "--compute=1ms", "--rounds=5", record});
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, HasSubstr("has no weights that a replay could compare"));
  ended = RunGrapevine({"train", "--model=softmax", "--rounds=5", "--out=" + folder.File("run"),
                        "--record=" + folder.File("none/run.rec")});
  EXPECT_EQ(ended.exit_code, kOutput);
  EXPECT_THAT(ended.output, HasSubstr(folder.File("none/run.rec")));
  EXPECT_FALSE(std::filesystem::exists(folder.File("run")));
}

TEST(Recording, AFullDiskEndsTheRunByName) {
  const ScratchFolder folder;
  GrapevineProcess run(Training({"dpsgd"}, folder,
                                {"--model=quadratic:dim=2", "--data=synthetic", "--rounds=1000000",
                                 "--log-every=1000000", "--eval-every=1000000"}),
                       {.largest_file = 50000});
  EXPECT_EQ(run.Await(), kOutput) << run.output();
  EXPECT_THAT(run.output(), AllOf(HasSubstr("cannot write " + folder.File("run") + "/node-"),
                                  HasSubstr("events.rec: File too large")));
  EXPECT_TRUE(run.AwaitNobody());
}

}  // namespace
}  // namespace grapevine::testing
