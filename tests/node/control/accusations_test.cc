// Who goes for what members say of each other.
#include "node/control/accusations.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr Rank kMembers = 64;
constexpr SteadyTime kStart{};
constexpr SteadyTime kHeard = kStart + milliseconds(1000);

Accusations OfAResilientRun() {
  return Accusations({.members = kMembers, .peer_timeout = milliseconds(4000), .resilient = true});
}

// All are heard all the time.
std::optional<Accusation> HeardFromAll(const Accusations& accusations, SteadyTime now) {
  return accusations.Heard(now, [now](Rank) { return now; });
}

// Who goes, one after the other, when they are accused at once in this order.
std::vector<Rank> WhoGo(const std::vector<Loss>& losses) {
  Accusations accusations = OfAResilientRun();
  for (const Loss& loss : losses) {
    accusations.Add({loss.lost, loss.reporter, Failure::kPeerLost, "lost"}, kStart);
  }
  std::vector<Rank> gone;
  while (const std::optional<Accusation> heard = HeardFromAll(accusations, kHeard)) {
    gone.push_back(heard->culprit);
    accusations.LeaveOut(heard->culprit);
  }
  EXPECT_TRUE(accusations.empty());
  return gone;
}

std::vector<Loss> Drawn(KeyedRandom& random) {
  const Rank ranks = 2 + static_cast<Rank>(random.Below(9));
  const uint64_t sparse = 1 + random.Below(8);
  std::vector<Loss> losses;
  for (Rank reporter = 0; reporter < ranks; ++reporter) {
    for (Rank lost = 0; lost < ranks; ++lost) {
      if (lost != reporter && random.Below(sparse) == 0) losses.push_back({reporter, lost});
    }
  }
  return losses;
}

void Shuffle(KeyedRandom& random, std::vector<Loss>* losses) {
  for (size_t i = losses->size(); i > 1; --i) {
    std::swap((*losses)[i - 1], (*losses)[random.Below(i)]);
  }
}

TEST(Accusations, TakeTheSameAndTheFewestInWhateverOrderTheyCome) {
  for (const uint64_t seed : testing::Seeds(500)) {
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    KeyedRandom random(seed, Purpose::kTopology);
    std::vector<Loss> losses = Drawn(random);
    const std::vector<Rank> gone = WhoGo(losses);
    ASSERT_EQ(gone.size(), FewestToGo({losses.begin(), losses.end()}, {0}).size());
    ASSERT_EQ(std::ranges::count(gone, 0), 0) << "rank 0 stays";
    for (int times = 0; times < 5; ++times) {
      Shuffle(random, &losses);
      ASSERT_EQ(WhoGo(losses), gone);
    }
  }
}

TEST(Accusations, OfOthersThanThoseWhoAreAtOddsAreJudgedByThemselves) {
  Accusations accusations = OfAResilientRun();
  accusations.Add({2, 1, Failure::kPeerLost, "1 lost 2"}, kStart);
  accusations.Add({4, 3, Failure::kPeerLost, "3 lost 4"}, kStart + milliseconds(900));
  EXPECT_FALSE(HeardFromAll(accusations, kHeard - milliseconds(1)).has_value());
  ASSERT_TRUE(HeardFromAll(accusations, kHeard).has_value());
  EXPECT_EQ(HeardFromAll(accusations, kHeard)->message, "1 lost 2");
  accusations.LeaveOut(2);
  EXPECT_FALSE(HeardFromAll(accusations, kHeard).has_value()) << "4 may still speak";
  EXPECT_TRUE(HeardFromAll(accusations, kHeard + milliseconds(900)).has_value());
}

// Another process comes in the place of whoever had said so.
TEST(Accusations, OfOneThatIsReplacedCountNoMore) {
  Accusations accusations({.members = 3, .peer_timeout = milliseconds(4000), .resilient = true});
  accusations.Add({0, 1, Failure::kPeerLost, "1 lost 0"}, kStart);
  accusations.LeaveOut(1);
  accusations.TakeIn(1);
  EXPECT_TRUE(accusations.empty());
  EXPECT_FALSE(HeardFromAll(accusations, kHeard).has_value());
}

}  // namespace
}  // namespace grapevine
