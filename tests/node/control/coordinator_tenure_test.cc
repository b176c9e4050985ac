// A coordinator whose lease of rank 0's role has lapsed: it decides nothing about the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/control/coordinator.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CoordinatorTenure : public CoordinatorRun {
 protected:
  CoordinatorTenure() {
    resilient_ = true;
    role_moves_ = true;
  }
  void Tenure(bool certain) {
    coordinator_->OnTenure(certain, now_);
    Collect();
  }
  void PassWith(milliseconds time, const std::vector<Rank>& alive) {
    Pass(time, [&] {
      for (const Rank rank : alive) Beat(rank, 5, {}, now_.time_since_epoch().count());
    });
  }
  bool runs() const { return coordinator_->phase() == Coordinator::Phase::kRunning; }
};

TEST_F(CoordinatorTenure, LeavesNobodyOutUntilItsRoleIsCertainAgain) {
  BeginRunning(4);
  Tenure(false);
  LoseProcess(3);
  Collect();
  PassWith(milliseconds(6000), {0, 1});  // rank 2 is silent, rank 3 is gone
  EXPECT_TRUE(runs());
  EXPECT_THAT(lost_, IsEmpty());
  for (const Rank rank : {0, 1}) EXPECT_THAT(directives_[rank], IsEmpty());
  Tenure(true);
  PassWith(kTick, {0, 1});
  EXPECT_THAT(lost_, ElementsAre(3, 2));
  EXPECT_TRUE(Last(1).has_prepare());
}

TEST_F(CoordinatorTenure, WhoHasComeBackMeanwhileStays) {
  BeginRunning(3);
  Tenure(false);
  LoseProcess(2);
  control::Registration again = RegistrationOf(2, 3);
  again.set_call(1);
  again.set_run_id("run-1");
  Register(12, again);
  Tenure(true);
  EXPECT_TRUE(runs());
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(CoordinatorTenure, AgreesUponNoViewMeanwhile) {
  BeginRunning(3);
  LoseProcess(2);
  Collect();
  ASSERT_TRUE(Last(1).has_prepare());
  Tenure(false);
  Promise(0, 1, 13);
  Promise(1, 1, 14);
  EXPECT_TRUE(Last(1).has_prepare());
  Tenure(true);
  EXPECT_TRUE(Last(1).has_view());
}

TEST_F(CoordinatorTenure, GoesIfSomethingIsToBeDecidedForTooLong) {
  BeginRunning(3);
  Tenure(false);
  PassWith(milliseconds(30000), {0, 1});  // --rendezvous-timeout is 20 s
  EXPECT_FALSE(runs());
  EXPECT_TRUE(coordinator_->resigned()) << "another node may have the others";
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("rank 0"), HasSubstr("could not say who is still in"),
                    HasSubstr("--rendezvous-timeout"), HasSubstr("which store is away")));
  EXPECT_THAT(directives_[1], IsEmpty());
}

TEST_F(CoordinatorTenure, TheOthersGoOnAlsoOnceTheyHaveLeftThisOne) {
  BeginRunning(2);
  Tenure(false);
  PassWith(milliseconds(30000), {0});
  ASSERT_TRUE(coordinator_->resigned());
  EXPECT_TRUE(Last(0).abort().others_go_on());
  coordinator_->OnLeft(1, now_);
  coordinator_->OnClosed(0, "cut", now_);
  control::Registration again = RegistrationOf(0, 2);
  again.set_call(1);
  again.set_run_id("run-1");
  Register(10, again);
  EXPECT_TRUE(Last(10).abort().others_go_on()) << "they have another coordinator";
}

TEST_F(CoordinatorTenure, LetsTheRunGoOnWhereNothingIsToBeDecided) {
  BeginRunning(3);
  Tenure(false);
  PassWith(milliseconds(60000), {0, 1, 2});
  EXPECT_TRUE(runs());
}

TEST_F(CoordinatorTenure, BeginsNoRunBeforeItsRoleIsCertain) {
  Begin(2);
  Tenure(false);
  for (const Rank rank : {0, 1}) Register(rank, RegistrationOf(rank, 2));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Tenure(true);
  EXPECT_TRUE(runs());
}

}  // namespace
}  // namespace grapevine
