// The order of streams that only remember for what they wait.
#include "kernels/device/stream_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A point of a stream's work: how much of each stream's comes before it.
class LoggedEvent final : public DeviceEvent {
 public:
  LoggedEvent(size_t of_stream, std::vector<int> what_passed)
      : stream(of_stream), passed_before(std::move(what_passed)) {}

  bool passed() override { return false; }
  absl::Status Wait(std::chrono::nanoseconds) override { return absl::OkStatus(); }
  std::chrono::nanoseconds Since(const DeviceEvent&) const override { return {}; }

  int position() const { return passed_before[stream]; }

  const size_t stream;
  const std::vector<int> passed_before;  // by stream
};

class LoggedStream final : public DeviceStream {
 public:
  LoggedStream(size_t index, size_t streams) : index_(index), passed_(streams, 0) {}

  std::shared_ptr<DeviceEvent> Record() override {
    ++passed_[index_];
    return std::make_shared<LoggedEvent>(index_, passed_);
  }
  std::shared_ptr<DeviceEvent> RecordTimed() override { return Record(); }
  void WaitFor(const DeviceEvent& event) override {
    const auto& other = dynamic_cast<const LoggedEvent&>(event);
    waits.emplace_back(other.stream, other.position());
    std::ranges::transform(passed_, other.passed_before, passed_.begin(),
                           [](int mine, int its) { return std::max(mine, its); });
  }
  void Upload(const void*, int64_t, void*) override {}
  void Download(const void*, int64_t, void*) override {}
  void WeightedSum(std::span<const WeightedVector>, int64_t, float*) override {}
  void MixAndStep(std::span<const WeightedVector>, const StepPass&, int64_t, float*) override {}
  void ClipNorm(float*, int64_t, double, double*) override {}
  int64_t SketchWorkspace(int64_t) const override { return 0; }
  void ComputeSketch(const float*, int64_t, uint64_t, void*, double*) override {}
  int64_t NormWorkspace(int64_t) const override { return 0; }
  void ComputeSquaredNorm(const float*, int64_t, void*, double*) override {}
  absl::Status status() const override { return absl::OkStatus(); }

  // What it waits for: a stream, and how many of its events.
  std::vector<std::pair<size_t, int>> waits;
  // Events of a stream that all that is queued here from now on comes after.
  int passed(size_t stream) const { return passed_[stream]; }

 private:
  const size_t index_;
  std::vector<int> passed_;
};

class StreamOrderTest : public ::testing::Test {
 protected:
  static constexpr size_t kStreams = 4;

  StreamOrderTest() {
    for (size_t i = 0; i < kStreams; ++i) streams_.emplace_back(i, kStreams);
  }

  MemoryRange In(int memory, int64_t begin, int64_t end) const {
    return {&memories_[memory], begin, end};
  }
  // Queues a use, and says what the stream has to wait for.
  std::vector<std::pair<size_t, int>> Use(size_t stream, const std::vector<MemoryRange>& reads,
                                          const std::vector<MemoryRange>& writes) {
    streams_[stream].waits.clear();
    order_.Before(streams_[stream], reads, writes);
    order_.After(streams_[stream], reads, writes);
    return streams_[stream].waits;
  }
  auto Read(size_t stream, int64_t begin, int64_t end, int memory = 0) {
    return Use(stream, {In(memory, begin, end)}, {});
  }
  auto Write(size_t stream, int64_t begin, int64_t end, int memory = 0) {
    return Use(stream, {}, {In(memory, begin, end)});
  }
  size_t uses(int memory = 0) const { return order_.uses(&memories_[memory]); }

  static constexpr int kMemories = 3;
  char memories_[kMemories] = {};
  std::vector<LoggedStream> streams_;
  StreamOrder order_;
};

TEST_F(StreamOrderTest, ReadersWaitForWritersAndWritersForBoth) {
  EXPECT_THAT(Write(0, 0, 10), IsEmpty());
  EXPECT_THAT(Read(1, 0, 10), ElementsAre(std::pair(0, 1)));
  EXPECT_THAT(Read(2, 0, 10), ElementsAre(std::pair(0, 1))) << "not for the other reader";
  EXPECT_THAT(Write(3, 0, 10), ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 1)));
}

TEST_F(StreamOrderTest, AStreamDoesNotWaitForItself) {
  Write(0, 0, 10);
  EXPECT_THAT(Read(0, 0, 10), IsEmpty());
  EXPECT_THAT(Write(0, 0, 10), IsEmpty());
}

TEST_F(StreamOrderTest, RangesThatOverlapWait) {
  for (const auto& [begin, end] : {std::pair(0, 10), {0, 11}, {9, 20}, {12, 13}, {19, 30}}) {
    StreamOrder order;
    std::vector<LoggedStream> streams = {{0, 2}, {1, 2}};
    const MemoryRange written = In(0, 0, 20), read = In(0, begin, end);
    order.After(streams[0], {}, {&written, 1});
    order.Before(streams[1], {&read, 1}, {});
    EXPECT_EQ(streams[1].waits.size(), 1u) << begin << ", " << end;
  }
}

TEST_F(StreamOrderTest, RangesThatTouchOrAreApartOrEmptyDoNot) {
  Write(0, 10, 20);
  EXPECT_THAT(Write(1, 20, 30), IsEmpty());
  EXPECT_THAT(Write(1, 0, 10), IsEmpty());
  EXPECT_THAT(Write(1, 40, 50), IsEmpty());
  EXPECT_THAT(Write(1, 15, 15), IsEmpty());
  EXPECT_THAT(Write(1, 10, 20, /*memory=*/1), IsEmpty());
}

TEST_F(StreamOrderTest, AUseWaitsOnceForEachStreamForTheLastThatOverlaps) {
  for (int64_t piece = 0; piece < 5; ++piece) Write(0, 10 * piece, 10 * piece + 10);
  EXPECT_THAT(Read(1, 15, 35), ElementsAre(std::pair(0, 4)));
  EXPECT_THAT(Read(1, 0, 35), IsEmpty()) << "earlier ones have passed then, too";
  EXPECT_THAT(Read(1, 0, 50), ElementsAre(std::pair(0, 5)));
}

TEST_F(StreamOrderTest, ALaterUseOfTheStreamStandsForWhatItCovers) {
  for (int round = 0; round < 5; ++round) {
    for (int64_t piece = 0; piece < 8; ++piece) {
      Read(0, 10 * piece, 10 * piece + 10);
      Write(1, 100 + 10 * piece, 110 + 10 * piece);
    }
    EXPECT_EQ(uses(), 16u) << "round " << round;
  }
  Read(0, 0, 80);
  EXPECT_EQ(uses(), 9u);
  Write(1, 100, 180);
  EXPECT_EQ(uses(), 2u);
}

TEST_F(StreamOrderTest, AReadStandsForNoWriteAndForNoOtherStreamsRead) {
  Write(0, 0, 10);
  Read(0, 0, 10);
  Read(1, 0, 10);
  EXPECT_EQ(uses(), 3u);
  EXPECT_THAT(Write(2, 0, 10), ElementsAre(std::pair(0, 2), std::pair(1, 1)));
}

TEST_F(StreamOrderTest, AWriteStandsForWhatItWaitedFor) {
  for (int64_t piece = 0; piece < 8; ++piece) {
    Write(0, 10 * piece, 10 * piece + 10);
    Read(1, 10 * piece, 10 * piece + 10);
  }
  EXPECT_EQ(uses(), 16u);
  Write(2, 0, 80);
  EXPECT_EQ(uses(), 1u);
  EXPECT_THAT(Write(3, 5, 15), ElementsAre(std::pair(2, 1)));
  EXPECT_EQ(streams_[3].passed(0), 8) << "through the write, which waited";
  EXPECT_EQ(streams_[3].passed(1), 8);
}

TEST_F(StreamOrderTest, AWriteOfAPartLeavesTheRest) {
  Write(0, 0, 80);
  Write(1, 20, 30);
  EXPECT_EQ(uses(), 2u);
  EXPECT_THAT(Read(2, 20, 30), ElementsAre(std::pair(0, 1), std::pair(1, 1)));
  EXPECT_THAT(Read(3, 70, 90), ElementsAre(std::pair(0, 1)));
}

TEST_F(StreamOrderTest, WhatIsQueuedLateIsOrderedFromItsBeforeToItsAfter) {
  Read(0, 0, 10);
  const MemoryRange place = In(0, 0, 10);
  order_.Before(streams_[1], {}, {&place, 1});
  EXPECT_THAT(streams_[1].waits, ElementsAre(std::pair(0, 1)));
  EXPECT_THAT(Write(2, 10, 20), IsEmpty());
  Write(1, 30, 40);
  order_.After(streams_[1], {}, {&place, 1});
  EXPECT_THAT(Read(3, 0, 5), ElementsAre(std::pair(1, 2)));
}

TEST_F(StreamOrderTest, AUseThatBeganInBetweenIsNotForgotten) {
  const MemoryRange place = In(0, 0, 10);
  order_.Before(streams_[1], {}, {&place, 1});
  Read(2, 0, 10);
  order_.After(streams_[1], {}, {&place, 1});
  EXPECT_THAT(Write(3, 0, 10), ElementsAre(std::pair(1, 1), std::pair(2, 1)));
}

// Pieces in rising or falling order, of which one is written and the others are read, by
// more uses than are kept: each is still waited for.
TEST_F(StreamOrderTest, MoreUsesThanTheBoundAreMergedAndNoneIsLost) {
  constexpr auto kPieces = static_cast<int64_t>(2 * StreamOrder::kMaxUses);
  const auto piece = [this](bool rising, int64_t number) {
    const int64_t begin = 10 * (rising ? number : kPieces - 1 - number);
    return In(0, begin, begin + 10);
  };
  for (const bool rising : {true, false}) {
    for (const int64_t written : {int64_t{0}, int64_t{1}, kPieces / 2, kPieces - 1}) {
      for (int64_t later = 0; later < kPieces; ++later) {
        StreamOrder order;
        std::vector<LoggedStream> streams = {{0, 3}, {1, 3}, {2, 3}};
        for (int64_t number = 0; number < kPieces; ++number) {
          const MemoryRange used = piece(rising, number);
          const std::span<const MemoryRange> none, one = {&used, 1};
          order.After(streams[0], number == written ? none : one, number == written ? one : none);
        }
        ASSERT_EQ(order.uses(&memories_[0]), StreamOrder::kMaxUses);
        const MemoryRange reused = piece(rising, later);
        order.Before(streams[1], {}, {&reused, 1});
        ASSERT_GT(streams[1].passed(0), later) << "written again";
        order.Before(streams[2], {&reused, 1}, {});
        if (later == written) {
          ASSERT_GT(streams[2].passed(0), later) << "read";
        }
      }
    }
  }
}

// What a use was: an order that forgets nothing.
struct PastUse {
  size_t stream;
  MemoryRange range;
  bool writes;
  int position;  // of its event
};

bool Conflict(const PastUse& one, const PastUse& other) {
  return one.stream != other.stream && one.range.memory == other.range.memory &&
         one.range.begin < other.range.end && other.range.begin < one.range.end &&
         (one.writes || other.writes);
}

// Random uses, some of which take their time between Before and After.
class StreamOrderOracle : public StreamOrderTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  // Each use is of up to `longest` elements. `exact`: nothing is merged, so that no wait is for
  // nothing.
  void Run(int uses, int64_t elements, int64_t longest, bool exact) {
    KeyedRandom random(GetParam(), Purpose::kShuffle);
    for (int i = 0; i < uses && !HasFailure(); ++i) {
      const size_t stream = random.Below(kStreams);
      std::vector<PastUse> parts(1 + random.Below(2));
      for (PastUse& part : parts) {
        const auto begin = static_cast<int64_t>(random.Below(elements));
        const auto size =
            1 + static_cast<int64_t>(random.Below(std::min(longest, elements - begin)));
        part = {stream, In(static_cast<int>(random.Below(kMemories)), begin, begin + size),
                random.Below(3) == 0, 0};
      }
      if (!MayBegin(parts)) continue;
      Begin(parts, exact);
      pending_.push_back(parts);
      while (pending_.size() > random.Below(4)) End(random.Below(pending_.size()));
      for (int memory = 0; memory < kMemories; ++memory) {
        most_uses_ = std::max(most_uses_, order_.uses(&memories_[memory]));
      }
    }
    EXPECT_LE(most_uses_, kStreams * StreamOrder::kMaxUses);
  }

  size_t most_uses_ = 0;  // of a memory

 private:
  bool MayBegin(const std::vector<PastUse>& parts) const {
    for (const PastUse& part : parts) {
      for (const auto& other : pending_) {
        for (const PastUse& use : other) {
          if (Conflict(part, use)) return false;
        }
      }
    }
    return true;
  }
  static std::pair<std::vector<MemoryRange>, std::vector<MemoryRange>> Ranges(
      const std::vector<PastUse>& parts) {
    std::vector<MemoryRange> reads, writes;
    for (const PastUse& part : parts) (part.writes ? writes : reads).push_back(part.range);
    return {reads, writes};
  }

  void Begin(const std::vector<PastUse>& parts, bool exact) {
    LoggedStream& stream = streams_[parts.front().stream];
    stream.waits.clear();
    const auto [reads, writes] = Ranges(parts);
    order_.Before(stream, reads, writes);
    std::vector<PastUse> conflicts;
    for (const PastUse& use : past_) {
      const auto with_use = [&](const PastUse& part) { return Conflict(part, use); };
      if (std::ranges::any_of(parts, with_use)) conflicts.push_back(use);
    }
    for (const PastUse& use : conflicts) {
      EXPECT_GE(stream.passed(use.stream), use.position) << "does not wait";
    }
    std::vector<int> waited(kStreams, 0);
    for (const std::pair<size_t, int>& wait : stream.waits) {
      EXPECT_EQ(waited[wait.first]++, 0) << "waits twice for a stream";
      const auto is_it = [&](const PastUse& use) {
        return std::pair(use.stream, use.position) == wait;
      };
      if (exact) {
        EXPECT_TRUE(std::ranges::any_of(conflicts, is_it)) << "waits for nothing";
      }
    }
  }
  void End(size_t index) {
    std::vector<PastUse> parts = pending_[index];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
    LoggedStream& stream = streams_[parts.front().stream];
    const auto [reads, writes] = Ranges(parts);
    order_.After(stream, reads, writes);
    for (PastUse& part : parts) {
      part.position = stream.passed(part.stream);
      past_.push_back(part);
    }
  }

  std::vector<PastUse> past_;
  std::vector<std::vector<PastUse>> pending_;
};

// Few ranges exist, fewer than the bound.
TEST_P(StreamOrderOracle, WaitsForAllThatItMustAndForNothingElse) {
  Run(600, 5, 5, /*exact=*/true);
}

TEST_P(StreamOrderOracle, WaitsForAllThatItMustWhereUsesAreMerged) {
  Run(1500, 1000, 40, /*exact=*/false);
  EXPECT_EQ(most_uses_, kStreams * StreamOrder::kMaxUses);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamOrderOracle, ::testing::Range<uint64_t>(1, 17));

}  // namespace
}  // namespace grapevine
