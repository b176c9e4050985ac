// Recordings of events: what was written is read, and what is hostile is refused by name.
#include "run/recording/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "run/recording/recorder.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using testing::FileText;
using ::testing::HasSubstr;

constexpr Rank kRecordedNodes = 3;

RecordingHeader HeaderOf(Rank rank) {
  RecordingHeader header;
  header.set_rank(rank);
  header.set_nodes(kRecordedNodes);
  header.set_config("nodes: 3\n");
  RecordedSetting& setting = *header.add_settings();
  setting.set_name("seed");
  setting.set_value("1");
  return header;
}

// One of each kind, and members at their bounds.
std::vector<Event> EveryEvent() {
  const Tag far{.channel = std::numeric_limits<uint16_t>::max(),
                .index = std::numeric_limits<int64_t>::min(),
                .step = std::numeric_limits<uint32_t>::max()};
  return {RoundLimit{0},
          Start{},
          Received{.from = kRecordedNodes - 1, .tag = far},
          Offered{.from = 0, .tag = {.channel = 1, .index = 300, .step = 2}},
          Lost{.from = 1, .tag = {}},
          GradientReady{.round = std::numeric_limits<int64_t>::max(), .from = 7},
          GradientReady{.round = 0},
          Left{{1}},
          Sent{{std::numeric_limits<uint64_t>::max()}},
          Sent{{2}, false},
          RoundLimit{std::numeric_limits<int64_t>::max()}};
}

std::string Bytes(const Event& event) {
  std::string bytes;
  AppendEvent(event, &bytes);
  return bytes;
}

// The stream of a node with these events, which ends with a model if it `ends`.
std::string Record(const ScratchFolder& folder, Rank rank, const std::vector<Event>& events,
                   bool ends = true, RecordingHeader header = {}) {
  if (!header.has_rank()) header = HeaderOf(rank);
  const std::string path = folder.File(absl::StrCat("node-", rank));
  auto writer = RecordingWriter::Create(path, header);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const Event& event : events) EXPECT_TRUE((*writer)->Add(event).ok());
  const std::vector<float> model = {1, 2, static_cast<float>(rank)};
  if (ends) {
    EXPECT_TRUE((*writer)->Finish(model).ok());
  }
  writer->reset();
  return path;
}

std::string WholeRun(const ScratchFolder& folder, bool ends = true) {
  std::string run;
  for (const Rank rank : {2, 0, 1}) run += FileText(Record(folder, rank, EveryEvent(), ends));
  return run;
}

absl::StatusOr<std::vector<RecordedNode>> ReadNodes(const std::vector<std::string>& files) {
  return ReadRecordings(files);
}

void ExpectRefused(const std::vector<std::string>& files, const std::string& why) {
  const auto read = ReadNodes(files);
  ASSERT_FALSE(read.ok()) << why;
  EXPECT_EQ(FailureOf(read.status()), Failure::kInput) << read.status();
  EXPECT_THAT(std::string(read.status().message()), HasSubstr(why));
}

TEST(Recording, EventsComeBackInTheirOrderWithTheirPlaces) {
  const ScratchFolder folder;
  const std::string run = WholeRun(folder);
  const std::string path = folder.Write("run.rec", run);
  const auto nodes = ReadNodes({path});
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), static_cast<size_t>(kRecordedNodes));
  for (Rank rank = 0; rank < kRecordedNodes; ++rank) {
    const RecordedNode& node = (*nodes)[rank];
    EXPECT_EQ(node.rank(), rank);
    EXPECT_EQ(node.events(), static_cast<int64_t>(EveryEvent().size()));
    ASSERT_TRUE(node.end());
    EXPECT_EQ(node.end()->elements(), 3);
    const std::vector<float> model = {1, 2, static_cast<float>(rank)};
    EXPECT_EQ(node.end()->checksum(), ModelChecksum(model));
    EventCursor cursor(&node);
    for (const Event& event : EveryEvent()) {
      ASSERT_FALSE(cursor.done());
      EXPECT_EQ(Bytes(cursor.event()), Bytes(event));
      EXPECT_EQ(cursor.event().index(), event.index());
      // The place that an error names is where these bytes are.
      const std::string where = cursor.Where();
      EXPECT_THAT(where, HasSubstr(absl::StrCat(path, ": rank ", rank, ", offset ")));
      const size_t offset = std::stoul(where.substr(where.find("offset ") + 7));
      EXPECT_EQ(run.substr(offset, Bytes(event).size()), Bytes(event));
      cursor.Next();
    }
    EXPECT_TRUE(cursor.done());
  }
}

TEST(Recording, ManyEventsTakeSomeBytesEach) {
  const ScratchFolder folder;
  constexpr int64_t kEvents = 20000;
  std::vector<Event> events;
  for (int64_t i = 0; i < kEvents; ++i) {
    events.push_back(Received{.from = 1, .tag = {.index = i, .step = 3}});
  }
  std::vector<std::string> files;
  for (Rank rank = 0; rank < kRecordedNodes; ++rank) files.push_back(Record(folder, rank, events));
  EXPECT_LT(FileText(files[0]).size(), kEvents * 7);
  const auto nodes = ReadNodes(files);
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  int64_t index = 0;
  for (EventCursor cursor(&nodes->front()); !cursor.done(); cursor.Next(), ++index) {
    ASSERT_EQ(cursor.index(), index);
    ASSERT_EQ(std::get<Received>(cursor.event()).tag.index, index);
  }
  EXPECT_EQ(index, kEvents);
}

// A node that dies may be anywhere in its file.
TEST(Recording, EveryPrefixIsAsGoodAsFarAsItGoes) {
  const ScratchFolder folder;
  const std::string whole = FileText(Record(folder, 0, EveryEvent()));
  const std::vector<std::string> others = {Record(folder, 1, EveryEvent()),
                                           Record(folder, 2, EveryEvent())};
  const int64_t all = static_cast<int64_t>(EveryEvent().size());
  bool usable = false;
  for (size_t size = 1; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const auto nodes =
        ReadNodes({folder.Write("cut", whole.substr(0, size)), others[0], others[1]});
    if (!nodes.ok()) {
      EXPECT_EQ(FailureOf(nodes.status()), Failure::kInput) << nodes.status();
      EXPECT_FALSE(usable) << "what goes further is no worse: " << nodes.status();
      continue;
    }
    usable = true;
    EXPECT_FALSE(nodes->front().end());
    EXPECT_THAT(nodes->front().events(), ::testing::AnyOf(0, all)) << "a block counts whole";
  }
  EXPECT_TRUE(usable);
}

TEST(Recording, OneThatBreaksOffDoesNotHideThoseBehindIt) {
  const ScratchFolder folder;
  const std::string whole = FileText(Record(folder, 0, EveryEvent()));
  const std::string rest = FileText(Record(folder, 1, EveryEvent())) +
                           FileText(Record(folder, 2, EveryEvent(), /*ends=*/false));
  // Without its end; and in the head of that.
  const std::string cut = FileText(Record(folder, 0, EveryEvent(), /*ends=*/false));
  for (const size_t more : {size_t{0}, size_t{5}}) {
    const std::string start = whole.substr(0, cut.size() + more);
    const auto nodes = ReadNodes({folder.Write("run.rec", start + rest)});
    if (more > 0) {
      // What follows looks like the rest of a block.
      ExpectRefused({folder.File("run.rec")}, "the head of a block is damaged");
      continue;
    }
    ASSERT_TRUE(nodes.ok()) << nodes.status();
    EXPECT_FALSE((*nodes)[0].end());
    EXPECT_TRUE((*nodes)[1].end());
    EXPECT_FALSE((*nodes)[2].end());
  }
}

TEST(Recording, EveryFlippedBitIsNoticed) {
  const ScratchFolder folder;
  const std::string run = WholeRun(folder);
  constexpr uint64_t kSeed = 7;
  KeyedRandom random(kSeed, Purpose::kShuffle);
  for (size_t at = 0; at < run.size(); ++at) {
    const int bit = static_cast<int>(random.Below(8));
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", byte ", at, ", bit ", bit));
    std::string damaged = run;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
    const std::string path = folder.Write("damaged", damaged);
    const auto read = ReadNodes({path});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(FailureOf(read.status()), Failure::kInput) << read.status();
    EXPECT_THAT(std::string(read.status().message()), AllOf(HasSubstr(path), HasSubstr("offset")));
  }
}

TEST(Recording, AFlippedByteOfAnEventIsNamedByItsPlace) {
  const ScratchFolder folder;
  std::string bytes = FileText(Record(folder, 0, EveryEvent()));
  const size_t block = kMagic.size() + kBlockHead + HeaderOf(0).ByteSizeLong() + kBlockTail;
  bytes[block + kBlockHead + 2] ^= 1;
  const std::string path = folder.Write("damaged", bytes);
  ExpectRefused({path}, absl::StrCat(path, ": rank 0, offset ", block,
                                     ": the content of a block differs from its checksum; take "
                                     "another copy, or record the run again"));
}

// With checksums that are right.
TEST(Recording, NonsenseInWholeBlocksIsRefusedAndNeverBelieved) {
  const ScratchFolder folder;
  constexpr uint64_t kSeed = 11;
  const std::string others = FileText(Record(folder, 1, {})) + FileText(Record(folder, 2, {}));
  std::string head(kMagic);
  AppendBlock({BlockKind::kHeader, HeaderOf(0).SerializeAsString()}, &head);
  for (uint64_t turn = 0; turn < 500; ++turn) {
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", turn ", turn));
    KeyedRandom random(kSeed, Purpose::kShuffle, turn);
    std::string content;
    for (uint64_t left = random.Below(40); left > 0; --left) {
      content.push_back(static_cast<char>(random.Below(random.Below(2) == 0 ? 9 : 256)));
    }
    std::string bytes = head;
    const BlockKind kinds[] = {BlockKind::kHeader, BlockKind::kEvents, BlockKind::kEnd};
    AppendBlock({kinds[random.Below(3)], content}, &bytes);
    const auto read = ReadNodes({folder.Write("nonsense", bytes + others)});
    if (!read.ok()) {
      EXPECT_EQ(FailureOf(read.status()), Failure::kInput) << read.status();
      continue;
    }
    for (EventCursor cursor(&read->front()); !cursor.done(); cursor.Next()) {
      if (const auto* received = std::get_if<Received>(&cursor.event())) {
        EXPECT_LT(received->from, kRecordedNodes);
      }
    }
  }
}

TEST(Recording, AbsurdBlocksAreNamed) {
  const ScratchFolder folder;
  const std::string others = FileText(Record(folder, 1, {})) + FileText(Record(folder, 2, {}));
  std::string head(kMagic);
  AppendBlock({BlockKind::kHeader, HeaderOf(0).SerializeAsString()}, &head);
  const auto expect = [&](BlockKind kind, const std::string& content, const std::string& why) {
    std::string bytes = head;
    AppendBlock({kind, content}, &bytes);
    ExpectRefused({folder.Write("absurd", bytes + others)}, why);
  };
  expect(BlockKind::kEvents, std::string("\x01\x03", 2), "event 0: an event is cut off");
  expect(BlockKind::kEvents, std::string("\x01\x03\x00\x00\x00", 5),
         "event 0: a member of an event is too large");
  expect(BlockKind::kEvents, std::string("\x00\x63", 2), "event 1: there is no event of kind 99");
  expect(BlockKind::kHeader, "", "a second header");
  expect(BlockKind::kEnd, "\x08\x05", "the recording has 0 events, and says 5: a part is missing");
  expect(BlockKind::kEnd, "\xff", "the end of the recording makes no sense");
  const std::string huge(kMaxMessageBytes + 1, '\0');
  expect(BlockKind::kEnd, huge, "says that it is a message of 16777217 bytes, of 16777216 at most");
  head.resize(kMagic.size());
  expect(BlockKind::kHeader, huge,
         "offset 22: a block says that it is a message of 16777217 bytes");
}

TEST(Recording, WhatIsNoRecordingOrAnotherVersionsIsRefused) {
  const ScratchFolder folder;
  ExpectRefused({folder.File("none")}, "cannot open " + folder.File("none"));
  ExpectRefused({folder.Write("empty", "")}, "is empty");
  ExpectRefused({folder.Write("text", "hello")},
                "offset 0: no recording begins here; `grapevine train --record=FILE` writes one");
  ExpectRefused({folder.Write("later", "grapevine-recording-2\nxyz")},
                "a format that this program does not read; replay it with the version");
  ExpectRefused({folder.Write("short", std::string(kMagic) + "H")}, "breaks off in its header");
  for (const auto& [rank, nodes] : {std::pair(3, 3), {-1, 3}, {0, 0}, {0, 1 << 30}}) {
    RecordingHeader header = HeaderOf(0);
    header.set_rank(rank);
    header.set_nodes(nodes);
    const std::string path = Record(folder, 0, {}, true, header);
    ExpectRefused({path}, "the header of a recording makes no sense");
  }
}

TEST(Recording, RanksAreThereOnceAndOfOneRun) {
  const ScratchFolder folder;
  const std::string a = Record(folder, 0, {}), b = Record(folder, 1, {}), c = Record(folder, 2, {});
  ExpectRefused({b}, "of 3 nodes these have no recording here: rank 0, 2; give their files, too");
  ExpectRefused({a, b, c, b}, absl::StrCat(b,
                                           ": rank 1, offset 0: the recording of this rank is "
                                           "also in ",
                                           b));
  RecordingHeader other = HeaderOf(2);
  other.mutable_settings(0)->set_value("2");
  ExpectRefused({a, b, Record(folder, 2, {}, true, other)}, "of another run than");
  ExpectRefused({a, b, Record(folder, 2, {}, true, other)}, "(seed: 1 and 2)");
  EXPECT_TRUE(ReadNodes({Record(folder, 2, {}), a, b}).ok()) << "in any order";
}

// Each machine may keep the data elsewhere, and have other time-outs.
TEST(Recording, NodesOfARunMayDifferInWhatTheyNeedNotAgreeOn) {
  const ScratchFolder folder;
  std::vector<std::string> files;
  for (Rank rank = 0; rank < kRecordedNodes; ++rank) {
    RecordingHeader header = HeaderOf(rank);
    header.set_config(
        absl::StrCat("data: \"mnist:/disk", rank, "\"\npeer_timeout: \"", rank + 1, "s\"\n"));
    files.push_back(Record(folder, rank, {}, true, header));
  }
  std::ranges::reverse(files);
  const auto nodes = ReadNodes(files);
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_THAT(nodes->front().header().config(), HasSubstr("mnist:/disk0")) << "rank 0's";
}

TEST(Recording, AFullDiskIsNamed) {
  const auto writer = RecordingWriter::Create("/dev/full", HeaderOf(0));
  EXPECT_EQ(FailureOf(writer.status()), Failure::kOutput);
  EXPECT_THAT(std::string(writer.status().message()),
              HasSubstr("cannot write /dev/full: No space left on device"));
}

}  // namespace
}  // namespace grapevine
