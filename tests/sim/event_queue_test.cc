// The radix heap against the standard's priority queue, ties in order of arrival.
#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

TEST(EventQueueTest, EventsOfOneMomentComeOutAsTheyWentIn) {
  EventQueue<int> queue;
  for (int i = 0; i < 5; ++i) queue.Push(7, i);
  queue.Push(3, -1);
  EXPECT_EQ(queue.next_time(), 3);
  EXPECT_EQ(queue.Pop().payload, -1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.Pop().payload, i);
  // Late, but behind those that came before.
  queue.Push(7, 5);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(queue.Pop().payload, i);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueueTest, KnowsWhetherTheMomentHasMoreEvents) {
  EventQueue<int> queue;
  queue.Push(5, 0);
  queue.Push(5, 1);
  queue.Push(6, 2);
  EXPECT_EQ(queue.next_time(), 5);
  queue.Pop();
  EXPECT_TRUE(queue.more_now());
  queue.Pop();
  EXPECT_FALSE(queue.more_now());
  // At the same moment, after its last event.
  queue.Push(5, 3);
  EXPECT_TRUE(queue.more_now());
  EXPECT_EQ(queue.Pop().payload, 3);
  EXPECT_EQ(queue.Pop().payload, 2);
}

TEST(EventQueueTest, ReachesTheEndOfTime) {
  constexpr Nanoseconds kEnd = std::numeric_limits<Nanoseconds>::max();
  EventQueue<int> queue;
  queue.Push(kEnd, 2);
  queue.Push(kEnd - 1, 1);
  queue.Push(0, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.Pop().payload, i);
}

TEST(EventQueueDeathTest, RefusesThePast) {
  EventQueue<int> queue;
  queue.Push(5, 0);
  queue.Pop();
  EXPECT_DEATH(queue.Push(4, 1), "an event in the past");
}

// How far ahead events are: all scales, and many at the same time.
Nanoseconds Distance(KeyedRandom& random) {
  switch (random.Below(4)) {
    case 0:
      return 0;
    case 1:
      return static_cast<Nanoseconds>(random.Below(4));
    case 2:
      return static_cast<Nanoseconds>(random.Below(1000));
    default:
      return static_cast<Nanoseconds>(random.Below(uint64_t{1} << random.Below(40)));
  }
}

TEST(EventQueueTest, ComesOutAsFromAPriorityQueue) {
  using Entry = std::pair<Nanoseconds, int>;  // time, number
  for (const uint64_t seed : testing::Seeds(100)) {
    SCOPED_TRACE(seed);
    KeyedRandom random(seed, Purpose::kTopology);
    EventQueue<int> queue;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> expected;
    Nanoseconds now = 0;
    int number = 0;
    for (int step = 0; step < 2000; ++step) {
      // Grows at first and is empty at times later.
      if (expected.empty() || random.Below(step < 1000 ? 5 : 9) < 3) {
        const Nanoseconds time = now + Distance(random);
        queue.Push(time, number);
        expected.push({time, number++});
      } else {
        ASSERT_EQ(queue.next_time(), expected.top().first);
        now = expected.top().first;
        const auto event = queue.Pop();
        ASSERT_EQ(Entry(event.time, event.payload), expected.top());
        expected.pop();
      }
      ASSERT_EQ(queue.size(), expected.size());
      ASSERT_EQ(queue.empty(), expected.empty());
    }
  }
}

}  // namespace
}  // namespace grapevine
