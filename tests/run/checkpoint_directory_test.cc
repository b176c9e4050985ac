// Checkpoints as files: to the bit, in two phases, whatever is killed when.
#include "run/checkpoint/checkpoint_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/status.h"
#include "random/keyed_random.h"
#include "run/checkpoint/checkpoint_files.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Rank kWriters = 3;

NodeState StateOf(Rank rank, Round round, int64_t elements = 100) {
  NodeState state{.round = round};
  KeyedRandom random(1, Purpose::kInitialization, rank, round);
  for (const char* name : {"replica", "optimizer"}) {
    const SharedVector vector = NewSharedVector(elements);
    for (float& element : vector.span()) element = static_cast<float>(random.Unit());
    state.vectors[name] = vector;
  }
  state.numbers["push_sum.weight"] = random.Unit();
  return state;
}

CheckpointManifest Checkpointed(const std::string& run, Round round, int64_t elements = 100) {
  const auto checkpoint = BeginCheckpoint(run, round);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  CheckpointManifest manifest;
  manifest.set_version(kManifestVersion);
  manifest.set_round(round);
  for (Rank rank = 0; rank < kWriters; ++rank) {
    const auto part = WriteNodePart(*checkpoint, rank, StateOf(rank, round, elements));
    EXPECT_TRUE(part.ok()) << part.status();
    *manifest.add_nodes() = *part;
  }
  const absl::Status complete = CompleteCheckpoint(run, *checkpoint, manifest);
  EXPECT_TRUE(complete.ok()) << complete;
  return manifest;
}

void ExpectWhole(const Checkpoint& checkpoint, int64_t elements = 100) {
  for (Rank rank = 0; rank < kWriters; ++rank) {
    const auto state = ReadNodePart(checkpoint, rank);
    ASSERT_TRUE(state.ok()) << state.status();
    const NodeState expected = StateOf(rank, checkpoint.manifest.round(), elements);
    EXPECT_EQ(state->numbers, expected.numbers);
    ASSERT_EQ(state->vectors.size(), expected.vectors.size());
    for (const auto& [name, vector] : expected.vectors) {
      EXPECT_TRUE(std::ranges::equal(state->vectors.at(name).span(), vector.span())) << name;
    }
  }
}

std::set<std::string> FoldersOf(const std::string& run) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints")) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(NodeState, KeepsEveryBit) {
  const ScratchFolder folder;
  NodeState state{.round = 7};
  const SharedVector odd = NewSharedVector(6);
  const float elements[] = {0.0f,
                            -0.0f,
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(),
                            0.1f};
  std::ranges::copy(elements, odd.data.get());
  state.vectors["odd"] = odd;
  state.vectors["empty"] = NewSharedVector(0);
  state.numbers = {{"third", 1.0 / 3}, {"tiny", 5e-324}, {"large", 1.7976931348623157e308}};
  ASSERT_TRUE(WriteNodeState(folder.File("part"), 4, state).ok());
  const auto read = ReadNodeState(folder.File("part"), 4);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->round, 7);
  EXPECT_EQ(read->numbers, state.numbers);
  EXPECT_EQ(read->vectors.at("empty").size, 0);
  ASSERT_EQ(read->vectors.at("odd").size, 6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(read->vectors.at("odd").data[i]),
              std::bit_cast<uint32_t>(elements[i]));
  }
}

TEST(NodeState, OfAnotherRankOrOfNoneIsRefused) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteNodeState(folder.File("part"), 4, StateOf(4, 1)).ok());
  const absl::Status other = ReadNodeState(folder.File("part"), 3).status();
  EXPECT_EQ(FailureOf(other), Failure::kInput);
  EXPECT_THAT(std::string(other.message()), HasSubstr("part: is the part of rank 4, not of 3"));
  folder.Write("text", "no safetensors");
  EXPECT_EQ(FailureOf(ReadNodeState(folder.File("text"), 0).status()), Failure::kInput);
  EXPECT_THAT(std::string(ReadNodeState(folder.File("none"), 0).status().message()),
              HasSubstr("none"));
}

TEST(Checkpoints, AreReadAsTheyWereWritten) {
  const ScratchFolder run;
  Checkpointed(run.path(), 20);
  const auto found = FindCheckpoint(run.path());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->path, CheckpointPath(run.path(), 20));
  EXPECT_EQ(found->manifest.round(), 20);
  ExpectWhole(*found);
  const auto named = FindCheckpoint(CheckpointPath(run.path(), 20));
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->manifest.round(), 20);
}

TEST(Checkpoints, OfWhichTheLastTwoAreKept) {
  const ScratchFolder run;
  for (const Round round : {20, 40, 60, 100}) Checkpointed(run.path(), round);
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-100", "round-60"));
  EXPECT_EQ(FindCheckpoint(run.path())->manifest.round(), 100);
}

TEST(Checkpoints, AreRemovedWithoutWhatOthersHavePutBesideThem) {
  const ScratchFolder run;
  Checkpointed(run.path(), 20);
  const std::string notes = run.Write("checkpoints/round-20/notes.txt", "the best so far");
  for (const Round round : {40, 60, 80}) Checkpointed(run.path(), round);
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-20", "round-60", "round-80"));
  EXPECT_EQ(testing::FileText(notes), "the best so far");
  EXPECT_FALSE(FindCheckpoint(CheckpointPath(run.path(), 20)).ok());
}

TEST(Checkpoints, WithoutAManifestDoNotExist) {
  const ScratchFolder run;
  EXPECT_THAT(std::string(FindCheckpoint(run.path()).status().message()),
              HasSubstr("has no complete checkpoint"));
  const std::string begun = *BeginCheckpoint(run.path(), 20);
  ASSERT_TRUE(WriteNodePart(begun, 0, StateOf(0, 20)).ok());
  EXPECT_FALSE(FindCheckpoint(run.path()).ok());
  EXPECT_FALSE(FindCheckpoint(begun).ok());

  Checkpointed(run.path(), 40);
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-40")) << "what was left is cleared away";
  const std::string next = *BeginCheckpoint(run.path(), 60);
  EXPECT_EQ(FindCheckpoint(run.path())->manifest.round(), 40);
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-40", "round-60")) << "under way";
  ASSERT_TRUE(RemoveIncompleteCheckpoints(run.path()).ok());
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-40")) << "the run is over";
}

TEST(Checkpoints, OfLaterRoundsAreRemovedWhereARunGoesOnFromAnEarlierOne) {
  const ScratchFolder run;
  ASSERT_TRUE(RemoveCheckpointsAfter(run.path(), 20).ok()) << "there are none";
  for (const Round round : {20, 40}) Checkpointed(run.path(), round);
  ASSERT_TRUE(WriteNodePart(*BeginCheckpoint(run.path(), 60), 0, StateOf(0, 60)).ok());
  const absl::Status removed = RemoveCheckpointsAfter(run.path(), 20);
  ASSERT_TRUE(removed.ok()) << removed;
  EXPECT_THAT(FoldersOf(run.path()), ElementsAre("round-20"));
  ExpectWhole(*FindCheckpoint(run.path()));
}

TEST(Checkpoints, ThatAreWrittenAgainDoNotMixTheirParts) {
  const ScratchFolder run;
  Checkpointed(run.path(), 20);
  const std::string again = *BeginCheckpoint(run.path(), 20);
  EXPECT_FALSE(FindCheckpoint(run.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(NodePartPath(again, 2)));
}

TEST(Checkpoints, ThatAreDamagedAreRefusedWithTheFile) {
  const ScratchFolder run;
  Checkpointed(run.path(), 20);
  const Checkpoint checkpoint = *FindCheckpoint(run.path());
  const std::string path = NodePartPath(checkpoint.path, 1);
  const std::string bytes = testing::FileText(path);
  for (const size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    std::ofstream(path, std::ios::binary) << damaged;
    const absl::Status status = ReadNodePart(checkpoint, 1).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput);
    EXPECT_THAT(std::string(status.message()), HasSubstr("node-1.safetensors: "));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the checkpoint of round 20 is damaged, there is none before it in "));
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 4);
  EXPECT_FALSE(ReadNodePart(checkpoint, 1).ok());
  std::filesystem::remove(path);
  EXPECT_THAT(std::string(ReadNodePart(checkpoint, 1).status().message()), HasSubstr(path));
}

TEST(Checkpoints, ThatAreDamagedNameTheOneBefore) {
  const ScratchFolder run;
  for (const Round round : {20, 40}) Checkpointed(run.path(), round);
  const Checkpoint checkpoint = *FindCheckpoint(run.path());
  std::filesystem::remove(NodePartPath(checkpoint.path, 1));
  EXPECT_THAT(std::string(ReadNodePart(checkpoint, 1).status().message()),
              HasSubstr("node-1.safetensors: No such file or directory; the checkpoint of round 40 "
                        "is damaged, go on from the one before it with --resume=" +
                        CheckpointPath(run.path(), 20)));
}

TEST(Checkpoints, WhoseManifestIsDamagedNameTheOneBefore) {
  const ScratchFolder run;
  for (const Round round : {20, 40}) Checkpointed(run.path(), round);
  const std::string remedy =
      "the checkpoint of round 40 is damaged, go on from the one before it "
      "with --resume=" +
      CheckpointPath(run.path(), 20);
  const std::string last = run.File("checkpoints/round-40/manifest.textproto");
  const std::string other = testing::FileText(run.File("checkpoints/round-20/manifest.textproto"));
  for (const auto& [text, what] : {std::pair{std::string("vers"), "manifest.textproto:"},
                                   std::pair{other, "manifest.textproto: is of round 20"}}) {
    std::ofstream(last, std::ios::binary) << text;
    for (const std::string& path : {run.path(), CheckpointPath(run.path(), 40) + "/"}) {
      const absl::Status status = FindCheckpoint(path).status();
      EXPECT_EQ(FailureOf(status), Failure::kInput);
      EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(what), HasSubstr(remedy)));
    }
  }
}

TEST(Checkpoints, OfARealRunAreRemovedByEachNode) {
  const ScratchFolder run;
  for (const Round round : {20, 40}) Checkpointed(run.path(), round);
  run.Write("checkpoints/round-40/node-1.safetensors.tmp.17", "half");
  ASSERT_TRUE(InvalidateCheckpointsAfter(run.path(), 20).ok());
  EXPECT_EQ(FindCheckpoint(run.path())->manifest.round(), 20);
  ASSERT_TRUE(RemoveNodeParts(run.path(), 1, [](Round round) { return round <= 20; }).ok());
  EXPECT_FALSE(std::filesystem::exists(run.File("checkpoints/round-40/node-1.safetensors.tmp.17")));
  const auto parts = NodePartsIn(run.path(), 1);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ(parts->at(20).checksum(), FindCheckpoint(run.path())->manifest.nodes(1).checksum());
  EXPECT_EQ(NodePartsIn(run.path(), 2)->size(), 2u);
  EXPECT_EQ(NodePartsIn(CheckpointPath(run.path(), 40), 2)->size(), 1u);
}

TEST(Checkpoints, BelongToARunByTheirNames) {
  const ScratchFolder run;
  EXPECT_EQ(RunOf(run.path()), run.path());
  EXPECT_EQ(RunOf(run.File("checkpoints/round-20")), run.path());
  EXPECT_EQ(RunOf(run.File("checkpoints/round-20/")), run.path());
  EXPECT_EQ(RunOf(run.File("checkpoints")), run.File("checkpoints"));
}

TEST(Checkpoints, RefuseManifestsThatCannotBe) {
  const ScratchFolder run;
  const std::string good = ToText(Checkpointed(run.path(), 20));
  const auto error = [](const std::string& text) {
    const absl::Status status = ParseManifest("m", text).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput) << text;
    return std::string(status.message());
  };
  EXPECT_TRUE(ParseManifest("m", good).ok());
  EXPECT_THAT(error("rounds: 3"), HasSubstr("m:1"));
  EXPECT_THAT(error("version: 2"), HasSubstr("its format is version 2"));
  EXPECT_THAT(error("version: 1"), HasSubstr("it names no round"));
  EXPECT_THAT(error("version: 1 round: -1"), HasSubstr("it names no round"));
  EXPECT_THAT(error("version: 1 round: 1"), HasSubstr("it lists the parts of 0 nodes"));
  EXPECT_THAT(error("version: 1 round: 1 nodes { bytes: 3 }"), HasSubstr("lacks bytes or"));
  EXPECT_THAT(error(good + "model { bytes: -1 checksum: 0 }"), HasSubstr("the model lacks"));
  EXPECT_THAT(error(good + "time_ns: -1"), HasSubstr("its time is none of a run's"));
  EXPECT_THAT(error(good + "time_ns: 9000000000000000000"), HasSubstr("its time is none"));
  EXPECT_THAT(error("version: 1 round: 9000000000000000000"), HasSubstr("it names no round"));
  EXPECT_THAT(error(good + "nodes { bytes: 1 checksum: 1 bytes_sent: -1 }"),
              HasSubstr("a count is none of a run's"));
  EXPECT_THAT(error(good + "nodes { bytes: 1 checksum: 1 bytes_received: 9223372036854775807 }"),
              HasSubstr("a count is none of a run's"));
  EXPECT_TRUE(ParseManifest("m", good + "members: 1 members: 2 members: 7").ok());
  for (const char* members :
       {"members: 1", "members: 1 members: 1 members: 2", "members: -1 members: 1 members: 2",
        "members: 2 members: 1 members: 3"}) {
    EXPECT_THAT(error(good + members), HasSubstr("its members are not the nodes"));
  }
  EXPECT_TRUE(ParseManifest("m", good + "history { from: 20 workers: 2 }").ok());
  for (const char* history : {"history { from: 21 workers: 2 }", "history { from: 3 workers: 0 }",
                              "history { from: -1 workers: 1 }",
                              "history { from: 3 workers: 2 } history { from: 3 workers: 1 }"}) {
    EXPECT_THAT(error(good + history), HasSubstr("its history is none of a run's"));
  }
  EXPECT_THAT(error(good + "lost_bytes_sent: -1"), HasSubstr("a count is none of a run's"));
  EXPECT_THAT(error(good + "settings { name: 'a' } settings { name: 'a' }"), HasSubstr("twice"));
}

// Writes checkpoints until it is killed, and says after each of how many rounds it was.
[[noreturn]] void WriteForEver(const std::string& run, int64_t elements, int told) {
  for (Round round = 1;; ++round) {
    Checkpointed(run, round, elements);
    if (write(told, &round, sizeof round) != sizeof round) _exit(1);
  }
}

// Some work, so that a kill comes at any moment.
void Spin(uint64_t times) {
  KeyedRandom random(1, Purpose::kShuffle);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < times / 10; ++i) sum += random.Below(10);
  EXPECT_LE(sum, times);
}

TEST(Checkpoints, AreWholeWheneverTheirWriterIsKilled) {
  constexpr int64_t kElements = 20'000;  // some of its time is spent between any two files
  for (const uint64_t seed : testing::Seeds(10)) {
    const ScratchFolder run;
    KeyedRandom random(seed, Purpose::kShuffle);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) WriteForEver(run.path(), kElements, ends[1]);
    close(ends[1]);
    Round reported = 0;
    for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
      ASSERT_EQ(read(ends[0], &reported, sizeof reported), ssize_t{sizeof reported});
    }
    // Somewhere in the next one.
    Spin(random.Below(4'000'000));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    close(ends[0]);
    const auto found = FindCheckpoint(run.path());
    ASSERT_TRUE(found.ok()) << found.status() << ", seed " << seed;
    EXPECT_GE(found->manifest.round(), reported) << "seed " << seed;
    ExpectWhole(*found, kElements);
    Checkpointed(run.path(), 1000);
    EXPECT_LE(FoldersOf(run.path()).size(), 2u);
  }
}

}  // namespace
}  // namespace grapevine
