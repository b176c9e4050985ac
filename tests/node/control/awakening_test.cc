#include "node/control/awakening.h"

#include <chrono>

#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Finding = Awakening::Finding;

constexpr milliseconds kPeerTimeout{4000};

Awakening Of(size_t others, bool resilient) {
  return Awakening({.stood_still = seconds(9),
                    .peer_timeout = kPeerTimeout,
                    .others = others,
                    .resilient = resilient},
                   SteadyTime());
}

TEST(AwakeningTest, WhoWasAwayForLessThanOthersWaitKnowsThatTheyFollow) {
  EXPECT_FALSE(Awakening::IsDue(milliseconds(3400), kPeerTimeout));
  EXPECT_TRUE(Awakening::IsDue(milliseconds(3500), kPeerTimeout)) << "they count from earlier";
}

TEST(AwakeningTest, WhereAllAreNeededOneThatIsGoneIsEnough) {
  const Awakening awakening = Of(3, /*resilient=*/false);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 2, 0), Finding::kOpen);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 2, 1), Finding::kDeserted);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 3, 0), Finding::kFollowed);
}

TEST(AwakeningTest, WhereTheOthersGoOnMoreThanHalfDecide) {
  const Awakening awakening = Of(4, /*resilient=*/true);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 1, 2), Finding::kOpen);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 2, 2), Finding::kFollowed);
  EXPECT_EQ(awakening.Judge(SteadyTime(), 1, 3), Finding::kDeserted);
  EXPECT_EQ(Of(1, /*resilient=*/true).Judge(SteadyTime(), 0, 1), Finding::kDeserted);
}

// Then they are silent, which is judged as ever.
TEST(AwakeningTest, WhoSaysNothingAndIsThereIsNotWaitedForForever) {
  const Awakening awakening = Of(2, /*resilient=*/false);
  EXPECT_EQ(awakening.Judge(SteadyTime(milliseconds(3999)), 0, 0), Finding::kOpen);
  EXPECT_EQ(awakening.Judge(SteadyTime(kPeerTimeout), 0, 0), Finding::kFollowed);
}

}  // namespace
}  // namespace grapevine
