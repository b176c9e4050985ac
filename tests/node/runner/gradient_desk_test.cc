#include "node/runner/gradient_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point Soon() { return Clock::now() + std::chrono::milliseconds(10); }
Clock::time_point Later() { return Clock::now() + Patient(std::chrono::seconds(20)); }

// A runner's side that keeps what it hears as text.
class GradientDeskTest : public ::testing::Test {
 protected:
  GradientDeskTest()
      : computer_(desk_.NewComputer(
            {.done =
                 [this](GradientResult result) {
                   heard_.push_back(absl::StrCat("done ", result.round, " loss ", *result.loss,
                                                 result.has_loss ? "" : " unknown",
                                                 result.finite ? "" : " not finite"));
                 },
             .part =
                 [this](GradientReady part) {
                   heard_.push_back(absl::StrCat("part ", part.round, " from ", part.from));
                 }})) {}

  SharedVector Want(Round round, std::vector<int64_t> cuts = {}) {
    const SharedVector gradient = NewSharedVector(4);
    std::ranges::fill(gradient.span(), 0.25f);  // until somebody writes it
    computer_->Compute(replica_, gradient, round, std::move(cuts));
    return gradient;
  }
  std::string Heard() { return absl::StrJoin(heard_, "; "); }

  std::vector<std::string> heard_;
  const SharedVector replica_ = NewSharedVector(4);
  GradientDesk desk_;
  std::unique_ptr<GradientComputer> computer_;
};

TEST_F(GradientDeskTest, PassesOnWhatIsWantedAndWhatIsDelivered) {
  EXPECT_FALSE((*desk_.Await(Soon())).has_value());
  const SharedVector gradient = Want(7);
  const auto task = *desk_.Await(Later());
  ASSERT_TRUE(task.has_value());
  EXPECT_FALSE(task->over());
  EXPECT_EQ(task->round, 7);
  EXPECT_EQ(task->replica.data, replica_.data);
  EXPECT_EQ(task->gradient.data, gradient.data);
  EXPECT_EQ((*desk_.Await(Later()))->round, 7) << "the same until it is delivered";
  std::ranges::fill(task->gradient.span(), 1.0f);
  EXPECT_TRUE(desk_.Deliver(0.5).ok());
  EXPECT_EQ(Heard(), "done 7 loss 0.5");
}

TEST_F(GradientDeskTest, TakesNothingThatItHasNotGivenOut) {
  EXPECT_TRUE(absl::IsFailedPrecondition(desk_.Deliver(0)));
  Want(0);
  EXPECT_TRUE(absl::IsFailedPrecondition(desk_.Deliver(0)));
  EXPECT_EQ(Heard(), "");
}

TEST_F(GradientDeskTest, ReportsPartsBeforeTheWhole) {
  std::ranges::fill(Want(3, {3, 1}).span(), 0.0f);
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  EXPECT_TRUE(desk_.Deliver(2).ok());
  EXPECT_EQ(Heard(), "part 3 from 3; part 3 from 1; done 3 loss 2");
}

TEST_F(GradientDeskTest, SaysWhatIsNotANumber) {
  Want(0).data[2] = std::numeric_limits<float>::infinity();
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  EXPECT_TRUE(desk_.Deliver(std::nan("")).ok());
  EXPECT_EQ(Heard(), "done 0 loss nan unknown not finite");
}

TEST_F(GradientDeskTest, EndsWithTheModelOrTheError) {
  desk_.Finish(replica_);
  const auto end = *desk_.Await(Later());
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->over());
  EXPECT_EQ(end->replica.data, replica_.data);
  desk_.Close(absl::InternalError("too late"));
  EXPECT_TRUE(desk_.Await(Later()).ok()) << "it has finished";

  GradientDesk failed;
  failed.Close(absl::InternalError("first"));
  failed.Close(absl::InternalError("second"));
  failed.Finish(replica_);
  EXPECT_EQ(failed.Await(Later()).status().message(), "first");
  EXPECT_EQ(failed.Deliver(0).message(), "first");
}

TEST_F(GradientDeskTest, WakesWhoWaits) {
  std::thread caller([this] {
    while (true) {
      const auto task = desk_.Await(Later());
      ASSERT_TRUE(task.ok() && task->has_value());
      if ((*task)->over()) return;
      std::ranges::fill((*task)->gradient.span(), 0.0f);
      ASSERT_TRUE(desk_.Deliver(0).ok());
    }
  });
  Want(0);
  desk_.Finish(replica_);
  caller.join();
}

// The node has failed: how, is not known yet, and the caller cannot know that its gradient is for
// nobody.
TEST_F(GradientDeskTest, WhatANodeDoesNotWaitForAnyMoreIsTakenByNobody) {
  Want(0);
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  computer_.reset();
  EXPECT_TRUE(desk_.Deliver(0).ok());
  EXPECT_EQ(Heard(), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(desk_.Deliver(0)));
  EXPECT_FALSE((*desk_.Await(Soon())).has_value());
  desk_.Close(absl::InternalError("how"));
  EXPECT_EQ(desk_.Await(Later()).status().message(), "how");
}

TEST_F(GradientDeskTest, NothingIsTakenThatWasNotGivenOutWhenTheNodeEnded) {
  Want(0);
  computer_.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(desk_.Deliver(0)));
}

class RetiredDesk : public GradientDeskTest {
 protected:
  RetiredDesk() {
    desk_.SetOpenEnd({.parameters = 4, .on_spent = [this](Round gradients, bool all) {
                        heard_.push_back(absl::StrCat("spent ", gradients, all ? ", all" : ""));
                      }});
  }

  void Compute(Round round) {
    std::ranges::fill(Want(round).span(), 1.0f);
    ASSERT_TRUE((*desk_.Await(Later())).has_value());
    ASSERT_TRUE(desk_.Deliver(0.5).ok());
  }
};

TEST_F(RetiredDesk, SaysHowManyGradientsThereAreAndCoastsNoEarlierThanItMay) {
  Compute(0);
  Want(1);
  desk_.Retire();
  desk_.Retire();
  EXPECT_FALSE((*desk_.Await(Soon())).has_value()) << "its caller is asked for none";
  EXPECT_EQ(Heard(), "done 0 loss 0.5; spent 1");
  desk_.Coast(1);
  EXPECT_EQ(Heard(), "done 0 loss 0.5; spent 1");
  desk_.Coast(3);
  desk_.Coast(2);
  EXPECT_EQ(Heard(), "done 0 loss 0.5; spent 1; done 1 loss nan unknown");
  const SharedVector gradient = Want(2);
  EXPECT_THAT(gradient.span(), ::testing::Each(0.0f));
  Want(3);
  EXPECT_EQ(heard_.size(), 4u) << Heard();
}

TEST_F(RetiredDesk, BetweenTwoGradientsTheOneThatWasDeliveredCounts) {
  Compute(0);
  desk_.Retire();
  EXPECT_EQ(Heard(), "done 0 loss 0.5; spent 1");
}

TEST_F(RetiredDesk, BeforeTheFirstItIsKnownOnceThatIsWanted) {
  desk_.Retire(/*all=*/true);
  EXPECT_EQ(Heard(), "");
  Want(40);
  EXPECT_EQ(Heard(), "spent 40, all");
}

TEST_F(RetiredDesk, ThatAllAreToEndMayBeSaidLater) {
  Want(0);
  desk_.Retire();
  desk_.Retire(/*all=*/true);
  EXPECT_EQ(Heard(), "spent 0; spent 0, all");
}

// As a node was lost in it.
TEST_F(RetiredDesk, ARoundThatIsDoneAgainHasNoGradientAndNeedsNoLeave) {
  Want(3);
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  EXPECT_TRUE(desk_.Deliver(0.5).ok());
  desk_.Retire();
  EXPECT_EQ(Heard(), "done 3 loss 0.5; spent 4");
  EXPECT_THAT(Want(3).span(), ::testing::Each(0));
  EXPECT_EQ(Heard(), "done 3 loss 0.5; spent 4; done 3 loss nan unknown");
  Want(4);
  EXPECT_EQ(heard_.size(), 3u) << Heard() << " without leave";
}

TEST_F(RetiredDesk, SoonIsAfterWhatIsUnderWay) {
  Want(0);
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  desk_.RetireSoon();
  EXPECT_EQ(Heard(), "");
  EXPECT_TRUE(desk_.Deliver(0.5).ok());
  Want(1);
  EXPECT_EQ(Heard(), "done 0 loss 0.5; spent 1");
  EXPECT_FALSE((*desk_.Await(Soon())).has_value());
}

TEST_F(RetiredDesk, SoonIsAtOnceWhereNothingIsUnderWay) {
  Want(7);
  desk_.RetireSoon();
  EXPECT_EQ(Heard(), "spent 7");
}

TEST_F(RetiredDesk, TakesNothingAnyMore) {
  Want(0);
  ASSERT_TRUE((*desk_.Await(Later())).has_value());
  desk_.Retire();
  EXPECT_EQ(desk_.Deliver(0).message(), "it was said that no gradient follows");
}

}  // namespace
}  // namespace grapevine::testing
