// In which rounds nodes exchange, and what a spec may say of it.
#include "algorithm/local/local_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "random/keyed_random.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The rounds below `end` that have an exchange.
std::vector<Round> Rounds(const LocalSteps& steps, Round end) {
  std::vector<Round> rounds;
  for (Round round = 0; round < end; ++round) {
    if (steps.ExchangeIn(round)) rounds.push_back(round);
  }
  return rounds;
}

TEST(LocalSteps, ExchangeAtTheEndOfEveryInterval) {
  EXPECT_THAT(Rounds(LocalSteps(1), 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(Rounds(LocalSteps(4), 13), ElementsAre(3, 7, 11));
  // Epochs end within these rounds: at 2.5, 5, 7.5 and 10.
  EXPECT_THAT(Rounds(LocalSteps(2.5), 11), ElementsAre(2, 4, 7, 9));
}

TEST(LocalSteps, CountTheExchangesThatTheyList) {
  constexpr uint64_t kSeed = 5;
  KeyedRandom random(kSeed, Purpose::kShuffle);
  for (int i = 0; i < 200; ++i) {
    const double interval = 1 + 20 * random.Unit();
    const LocalSteps steps(interval);
    Round last = -1;
    for (int64_t index = 0; index < 100; ++index) {
      const Round round = steps.RoundOf(index);
      ASSERT_GT(round, last) << "seed " << kSeed << ", interval " << interval;
      ASSERT_EQ(steps.Before(round), index) << "seed " << kSeed << ", interval " << interval;
      ASSERT_EQ(steps.Before(round + 1), index + 1) << "seed " << kSeed << ", " << interval;
      ASSERT_EQ(steps.Before(last + 1), index) << "seed " << kSeed << ", interval " << interval;
      last = round;
    }
  }
}

// A quotient of samples and batch is off by a rounding; the last round has the exchange of the
// last epoch all the same.
TEST(LocalSteps, OfAnEpochEndWithTheRun) {
  for (const double samples : {1000.0, 512.0, 60000.0, 47.0}) {
    for (const double batch : {24.0, 3.0, 47.0, 96.0}) {
      for (const int64_t epochs : {1, 3, 7}) {
        const double epoch = samples / batch;
        if (epoch < 1) continue;
        const auto rounds = static_cast<Round>(std::ceil(epochs * epoch - 1e-9));
        const LocalSteps steps(epoch);
        EXPECT_EQ(steps.Before(rounds), epochs) << samples << " samples, batch " << batch;
        EXPECT_TRUE(steps.ExchangeIn(rounds - 1)) << samples << " samples, batch " << batch;
      }
    }
  }
}

TEST(LocalSteps, AverageTheirExchangesOverTheRun) {
  EXPECT_DOUBLE_EQ(LocalSteps(4).PerRound(10), 0.2);
  EXPECT_DOUBLE_EQ(LocalSteps(4).PerRound(0), 0.25);
}

absl::StatusOr<LocalSteps> Parsed(const std::string& text, const RunLength& length) {
  const Spec spec = *ParseSpec("average:" + text);
  SpecReader reader(spec);
  return ReadLocalSteps(spec, reader, "every", 8, length);
}

TEST(ReadLocalSteps, KnowsNumbersEpochsAndTheEnd) {
  const RunLength length{.rounds = 20, .rounds_per_epoch = 6.5};
  EXPECT_THAT(Rounds(*Parsed("every=7", length), 20), ElementsAre(6, 13));
  EXPECT_THAT(Rounds(*Parsed("every=epoch", length), 20), ElementsAre(6, 12, 19));
  EXPECT_THAT(Rounds(*Parsed("every=once", length), 20), ElementsAre(19));
  EXPECT_THAT(Rounds(*Parsed("other=1", length), 20), ElementsAre(7, 15));
  // Rounds of several epochs.
  EXPECT_THAT(Rounds(*Parsed("every=epoch", {.rounds = 2, .rounds_per_epoch = 0.3}), 2),
              ElementsAre(0, 1));
}

TEST(ReadLocalSteps, RefuseWhatWouldNeverExchangeAndNameWhatWould) {
  const auto error = [](const std::string& text, const RunLength& length) {
    return std::string(Parsed(text, length).status().message());
  };
  const RunLength length{.rounds = 20};
  EXPECT_EQ(error("every=21", length),
            "average:every=21: option every: the run ends after 20 rounds, before its nodes would "
            "exchange; take every=20 or less");
  EXPECT_EQ(error("every=epoch", length),
            "average:every=epoch: option every: without a data set there are no epochs; take "
            "every=8 or another number of rounds");
  EXPECT_THAT(error("every=once", {}), HasSubstr("once means at the end of the run"));
  for (const char* text : {"every=0", "every=-3", "every=2.5", "every=often"}) {
    EXPECT_THAT(error(text, length),
                HasSubstr("is neither a number of rounds from 1 on, nor epoch, nor once"));
  }
  EXPECT_EQ(error("every=21", {}), "") << "nothing is known of the run's length";
}

}  // namespace
}  // namespace grapevine::testing
