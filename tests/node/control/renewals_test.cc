#include "node/control/renewals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>

namespace grapevine {
namespace {

using std::chrono::seconds;

class RenewalsTest : public ::testing::Test {
 protected:
  void Begin(RenewalsOptions options) { renewals_.emplace(std::move(options), now_); }
  // The round that is due once so many are over; 0: none.
  Round Due(Round passed, seconds later = seconds(0)) {
    now_ += later;
    renewals_->OnTime(now_);
    renewals_->OnPassed(passed);
    return renewals_->due().value_or(0);
  }

  SteadyTime now_{seconds(1000)};
  std::optional<Renewals> renewals_;
};

TEST_F(RenewalsTest, AreDueAfterSoManyRoundsButNotBeforeTheLastOneIsComplete) {
  Begin({.saved = [](Round round) { return round % 10 == 0; }});
  EXPECT_EQ(Due(9), 0);
  EXPECT_EQ(Due(13), 10) << "which is over";
  EXPECT_EQ(Due(21), 10) << "it is still to be measured by some";
  renewals_->Name();
  EXPECT_EQ(renewals_->under_way(), 10);
  EXPECT_EQ(Due(35), 0);
  renewals_->OnComplete(10);
  EXPECT_EQ(Due(39), 0);
  EXPECT_EQ(Due(40), 40);
}

TEST_F(RenewalsTest, AreDueWhenTheTimeHasPassedSinceTheLastOne) {
  Begin({.begin = 50, .every = seconds(30)});
  EXPECT_EQ(Due(60, seconds(29)), 0);
  EXPECT_EQ(Due(61, seconds(1)), 61);
  renewals_->Name();
  EXPECT_EQ(Due(70, seconds(60)), 0) << "it takes the disk longer";
  renewals_->OnComplete(61);
  EXPECT_EQ(Due(70), 70);
}

TEST_F(RenewalsTest, AreDueOnDemandOnceThereIsSomethingNew) {
  Begin({.begin = 50});
  EXPECT_EQ(Due(50, seconds(1000)), 0);
  renewals_->Demand();
  EXPECT_EQ(Due(50), 0) << "it is there already";
  EXPECT_EQ(Due(51), 51);
  renewals_->Name();
  renewals_->Demand();
  EXPECT_EQ(Due(60), 0) << "one is under way";
}

}  // namespace
}  // namespace grapevine
