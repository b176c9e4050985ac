// Members are lost at any moment, and answers come in any order: those who are left agree on one
// view after another, each from a round that nobody has begun.
#include "algorithm/membership/view_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using Decree = std::optional<ViewAgreement::Decree>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Round kLimit = 1'000'000;

View Of(std::vector<Member> members) { return {.members = std::move(members)}; }

uint32_t BallotOf(const Decree& decree) {
  EXPECT_TRUE(decree && std::holds_alternative<Prepare>(*decree));
  return std::get<Prepare>(*decree).ballot;
}

TEST(ViewAgreementTest, TheNextViewBeginsAfterTheLatestRoundBegun) {
  ViewAgreement agreement(Of({0, 1, 2, 3}), kLimit);
  EXPECT_FALSE(agreement.Take());
  agreement.Lose(2);
  EXPECT_FALSE(agreement.agreed());
  const uint32_t ballot = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(0, ballot, 7).ok());
  EXPECT_TRUE(agreement.OnPromise(3, ballot, 9).ok());
  EXPECT_FALSE(agreement.Take()) << "rank 1 has not answered";
  EXPECT_TRUE(agreement.OnPromise(1, ballot, 8).ok());
  const View expected{.epoch = 1, .from = 10, .members = {0, 1, 3}, .ballot = ballot};
  EXPECT_EQ(agreement.Take(), Decree(expected));
  EXPECT_EQ(agreement.view(), expected);
  EXPECT_TRUE(agreement.agreed());
  EXPECT_EQ(expected.RankOf(3), 2);
  EXPECT_EQ(expected.RankOf(2), std::nullopt);
}

TEST(ViewAgreementTest, AViewForACheckpointHasTheSameMembers) {
  ViewAgreement agreement(Of({0, 1, 2}), kLimit);
  agreement.Renew(40);
  const uint32_t ballot = BallotOf(agreement.Take());
  for (const Member member : {0, 1, 2}) {
    EXPECT_TRUE(agreement.OnPromise(member, ballot, 4 + member).ok());
  }
  EXPECT_EQ(agreement.Take(), Decree(View{.epoch = 1,
                                          .from = 7,
                                          .members = {0, 1, 2},
                                          .ballot = ballot,
                                          .newcomers = {},
                                          .checkpoint = 40}));
  EXPECT_FALSE(agreement.Take());
  agreement.Lose(1);
  const uint32_t next = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(0, next, 8).ok());
  EXPECT_TRUE(agreement.OnPromise(2, next, 8).ok());
  EXPECT_EQ(agreement.view().checkpoint, 0) << "that of a loss is for none";
}

TEST(ViewAgreementTest, AMemberThatIsLostIsNotInTheCheckpointThatIsUnderWay) {
  ViewAgreement agreement(Of({0, 1, 2}), kLimit);
  agreement.Renew(40);
  agreement.Take();
  agreement.Lose(1);
  const uint32_t ballot = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(0, ballot, 8).ok());
  EXPECT_TRUE(agreement.OnPromise(2, ballot, 8).ok());
  EXPECT_EQ(agreement.view().checkpoint, 40);
  EXPECT_THAT(agreement.view().members, ElementsAre(0, 2));
}

TEST(ViewAgreementTest, AMemberLostMeanwhileIsNotWaitedFor) {
  ViewAgreement agreement(Of({0, 1, 2, 3}), kLimit);
  agreement.Lose(2);
  const uint32_t first = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(1, first, 20).ok());
  agreement.Lose(1);
  const uint32_t second = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(3, first, 30).ok()) << "late";
  EXPECT_TRUE(agreement.OnPromise(0, second, 4).ok());
  EXPECT_TRUE(agreement.OnPromise(3, second, 5).ok());
  EXPECT_EQ(agreement.Take(),
            Decree(View{.epoch = 1, .from = 6, .members = {0, 3}, .ballot = second}));
}

TEST(ViewAgreementTest, ALossThatIsKnownChangesNothing) {
  ViewAgreement agreement(Of({0, 1, 2}), kLimit);
  agreement.Lose(1);
  EXPECT_TRUE(agreement.Take());
  agreement.Lose(1);
  EXPECT_FALSE(agreement.Take());
}

TEST(ViewAgreementTest, RoundsNeverFall) {
  ViewAgreement agreement(Of({0, 1, 2}), kLimit);
  agreement.Lose(2);
  uint32_t ballot = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(0, ballot, 50).ok());
  EXPECT_TRUE(agreement.OnPromise(1, ballot, 49).ok());
  EXPECT_EQ(agreement.view().from, 51);
  agreement.Take();
  agreement.Lose(0);  // rank 1 is still on its way to round 51
  ballot = BallotOf(agreement.Take());
  EXPECT_TRUE(agreement.OnPromise(1, ballot, 49).ok());
  EXPECT_EQ(agreement.Take(),
            Decree(View{.epoch = 2, .from = 51, .members = {1}, .ballot = ballot}));
}

TEST(ViewAgreementTest, NobodyIsLeft) {
  ViewAgreement agreement(Of({0, 1}), kLimit);
  agreement.Lose(0);
  agreement.Lose(1);
  EXPECT_FALSE(agreement.Take());
  EXPECT_TRUE(agreement.living().empty());
}

TEST(ViewAgreementTest, RefusesAnswersThatNobodyAskedFor) {
  ViewAgreement agreement(Of({0, 1, 2}), kLimit);
  EXPECT_EQ(
      agreement.OnPromise(0, 1, 3).message(),
      "answers ballot 1 with round 3, where the last ballot is 0 and the run has 1000000 rounds");
  agreement.Lose(2);
  const uint32_t ballot = BallotOf(agreement.Take());
  EXPECT_EQ(
      agreement.OnPromise(0, ballot, -2).message(),
      "answers ballot 1 with round -2, where the last ballot is 1 and the run has 1000000 rounds");
  EXPECT_TRUE(agreement.OnPromise(0, ballot, -1).ok()) << "no round yet";
  EXPECT_TRUE(agreement.OnPromise(0, ballot, -1).ok()) << "the same again";
  EXPECT_EQ(agreement.OnPromise(0, ballot, 0).message(),
            "answers ballot 1 with round 0 and with round -1");
  EXPECT_FALSE(agreement.OnPromise(1, ballot, kLimit).ok()) << "after the run's end";
}

// Nodes go on until they hear that they are to stop, and answers and losses are delivered in any
// order: every view that is agreed upon holds from a round that none of its members has begun
// when it hears of it.
TEST(ViewAgreementTest, NoMemberHasBegunTheRoundInWhichAViewBegins) {
  for (const uint64_t seed : testing::Seeds(2000)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    KeyedRandom random(seed, Purpose::kTopology);
    const auto n = static_cast<Member>(2 + random.Below(8));
    View first;
    for (Member member = 0; member < n; ++member) first.members.push_back(member);
    ViewAgreement agreement(first, kLimit);
    struct Node {
      Round begun = -1;
      bool stopped = false;  // until the next view
      std::deque<ViewAgreement::Decree> mail;
    };
    std::map<Member, Node> nodes;
    for (const Member member : first.members) nodes[member];
    struct Answer {
      Member member;
      uint32_t ballot;
      Round round;
    };
    std::vector<Answer> answers;
    uint32_t views = 0;
    const auto losses = random.Below(static_cast<uint64_t>(n));
    for (uint64_t lost = 0, step = 0; lost < losses || !agreement.agreed() || step < 50; ++step) {
      ASSERT_LT(step, 100000u);
      const auto at = random.Below(nodes.size());
      auto& [member, node] = *std::next(nodes.begin(), static_cast<ptrdiff_t>(at));
      if (lost < losses && random.Unit() < 0.02) {
        const Member gone = member;
        nodes.erase(gone);
        agreement.Lose(gone);
        ++lost;
      } else if (!node.mail.empty() && random.Unit() < 0.5) {
        const ViewAgreement::Decree decree = node.mail.front();
        node.mail.pop_front();
        if (const auto* prepare = std::get_if<Prepare>(&decree)) {
          node.stopped = true;
          answers.push_back({member, prepare->ballot, node.begun});
        } else {
          const View& view = std::get<View>(decree);
          EXPECT_LT(node.begun, view.from);
          EXPECT_TRUE(view.RankOf(member));
          node.begun = std::max(node.begun, view.from - 1);
          // A later question may be on its way: then it has been asked before this is heard.
          node.stopped = false;
        }
      } else if (!answers.empty() && random.Unit() < 0.5) {
        const auto which = static_cast<ptrdiff_t>(random.Below(answers.size()));
        const Answer answer = answers[which];
        answers.erase(answers.begin() + which);
        EXPECT_TRUE(agreement.OnPromise(answer.member, answer.ballot, answer.round).ok());
      } else if (!node.stopped) {
        ++node.begun;
      }
      const Decree decree = agreement.Take();
      if (!decree) continue;
      if (const auto* view = std::get_if<View>(&*decree)) {
        EXPECT_EQ(view->epoch, ++views);
        EXPECT_EQ(view->members, agreement.living());
      }
      for (auto& [living, other] : nodes) other.mail.push_back(*decree);
    }
    EXPECT_EQ(agreement.living().size(), nodes.size());
  }
}

// All who are in answer the open question with the same round.
void AllPromise(ViewAgreement& agreement, uint32_t ballot, Round round) {
  for (const Member member : std::vector<Member>(agreement.living())) {
    EXPECT_TRUE(agreement.OnPromise(member, ballot, round).ok());
  }
}

// Of three, of whom one was left out, from round 8 on.
class ViewAgreementOfNewcomers : public ::testing::Test {
 protected:
  void SetUp() override {
    agreement_.Lose(2);
    Answer(7);
    EXPECT_EQ(agreement_.Take(),
              Decree(View{.epoch = 1, .from = 8, .members = {0, 1}, .ballot = 1}));
    EXPECT_FALSE(agreement_.Take());
  }

  // The question that is to be told, once all have answered it.
  void Answer(Round round) { AllPromise(agreement_, BallotOf(agreement_.Take()), round); }

  ViewAgreement agreement_{Of({0, 1, 2}), 100};
};

// Of three, all of whom are needed.
class ViewAgreementOfTheFew : public ::testing::Test {
 protected:
  // The question that is to be told, once all have answered it.
  void Answer(Round round) { AllPromise(agreement_, BallotOf(agreement_.Take()), round); }
  void ExpectView(View view) { EXPECT_EQ(agreement_.Take(), Decree(std::move(view))); }

  ViewAgreement agreement_{Of({0, 1, 2}), 100, /*least=*/3};
};

TEST_F(ViewAgreementOfTheFew, TheyGoOnOnceOthersAreIn) {
  EXPECT_FALSE(agreement_.Take());
  agreement_.Lose(2);
  Answer(7);
  ExpectView({.epoch = 1, .from = 8, .members = {0, 1}, .ballot = 1});
  EXPECT_FALSE(agreement_.waits()) << "how far may they have gone?";
  Answer(9);
  EXPECT_TRUE(agreement_.waits());
  EXPECT_FALSE(agreement_.agreed());
  EXPECT_FALSE(agreement_.Take());
  agreement_.Admit(2);
  EXPECT_FALSE(agreement_.waits() && !agreement_.Take()) << "they are asked with it";
  AllPromise(agreement_, 3, 9);
  ExpectView({.epoch = 2, .from = 10, .members = {0, 1, 2}, .ballot = 3, .newcomers = {2}});
  EXPECT_FALSE(agreement_.Take());
  EXPECT_TRUE(agreement_.agreed());
}

TEST_F(ViewAgreementOfTheFew, WhoAsksBeforeAllHaveAnsweredComesInToo) {
  agreement_.Lose(2);
  Answer(7);
  EXPECT_TRUE(agreement_.Take()) << "the view";
  const uint32_t ballot = BallotOf(agreement_.Take());
  agreement_.Admit(2);
  AllPromise(agreement_, ballot, 9);
  Answer(9);
  EXPECT_THAT(agreement_.view().newcomers, ElementsAre(2));
}

TEST_F(ViewAgreementOfTheFew, WhoIsLostMeanwhileIsLeftOutFirst) {
  agreement_.Lose(2);
  Answer(7);
  EXPECT_TRUE(agreement_.Take());
  Answer(9);
  agreement_.Lose(1);
  Answer(9);
  ExpectView({.epoch = 2, .from = 10, .members = {0}, .ballot = 3});
  Answer(9);
  agreement_.Admit(1);
  Answer(9);
  EXPECT_TRUE(agreement_.waits()) << "one is not enough";
  agreement_.Admit(2);
  Answer(9);
  ExpectView({.epoch = 3, .from = 10, .members = {0, 1, 2}, .ballot = 6, .newcomers = {1, 2}});
}

TEST_F(ViewAgreementOfTheFew, NobodyWaitsWhereNoRoundIsLeft) {
  agreement_.Lose(2);
  Answer(98);
  ExpectView({.epoch = 1, .from = 99, .members = {0, 1}, .ballot = 1});
  Answer(99);
  ExpectView({.epoch = 2, .from = 100, .members = {0, 1}, .ballot = 2});
  EXPECT_FALSE(agreement_.Take());
  agreement_.Extend(200);
  Answer(99);
  EXPECT_TRUE(agreement_.waits()) << "the run has got longer";
}

TEST_F(ViewAgreementOfNewcomers, OneComesInOnceTheOthersHaveAgreed) {
  agreement_.Admit(2);
  EXPECT_FALSE(agreement_.agreed());
  EXPECT_THAT(agreement_.living(), ElementsAre(0, 1)) << "it is not asked";
  Answer(20);
  const View expected{.epoch = 2, .from = 21, .members = {0, 1, 2}, .ballot = 2, .newcomers = {2}};
  EXPECT_EQ(agreement_.Take(), Decree(expected));
  EXPECT_THAT(expected.Veterans(), ElementsAre(0, 1));
  EXPECT_THAT(agreement_.living(), ElementsAre(0, 1, 2));
  EXPECT_FALSE(agreement_.Take());
  agreement_.Lose(1);
  Answer(30);
  EXPECT_THAT(agreement_.view().newcomers, IsEmpty()) << "it is one of them now";
  EXPECT_THAT(agreement_.view().members, ElementsAre(0, 2));
}

TEST_F(ViewAgreementOfNewcomers, WhoIsInOrWaitsChangesNothing) {
  agreement_.Admit(1);
  EXPECT_FALSE(agreement_.Take());
  agreement_.Admit(2);
  EXPECT_TRUE(agreement_.Take());
  agreement_.Admit(2);
  EXPECT_FALSE(agreement_.Take());
}

TEST_F(ViewAgreementOfNewcomers, TheLastRoundsTakeNobodyIn) {
  agreement_.Admit(2);
  Answer(99);
  EXPECT_EQ(agreement_.Take(),
            Decree(View{.epoch = 2, .from = 100, .members = {0, 1}, .ballot = 2}));
  EXPECT_THAT(agreement_.TakeDeclined(), ElementsAre(2));
  EXPECT_THAT(agreement_.TakeDeclined(), IsEmpty());
  EXPECT_FALSE(agreement_.Take()) << "it does not wait any more";
  agreement_.Extend(110);
  agreement_.Admit(2);
  Answer(99);
  EXPECT_THAT(agreement_.view().newcomers, ElementsAre(2)) << "the run has got longer";
  EXPECT_EQ(agreement_.view().from, 100);
}

// The others have to hear first of a view without it.
TEST_F(ViewAgreementOfNewcomers, OneThatIsBeingLostWaitsForTheViewAfterThat) {
  agreement_.Lose(1);
  const uint32_t ballot = BallotOf(agreement_.Take());
  agreement_.Admit(1);
  EXPECT_FALSE(agreement_.Take());
  AllPromise(agreement_, ballot, 30);
  EXPECT_EQ(agreement_.Take(),
            Decree(View{.epoch = 2, .from = 31, .members = {0}, .ballot = ballot}));
  Answer(30);
  EXPECT_EQ(
      agreement_.Take(),
      Decree(
          View{.epoch = 3, .from = 31, .members = {0, 1}, .ballot = ballot + 1, .newcomers = {1}}));
}

TEST_F(ViewAgreementOfNewcomers, OneThatIsLostWhileItWaitsDoesNotComeIn) {
  agreement_.Admit(2);
  const uint32_t ballot = BallotOf(agreement_.Take());
  agreement_.Lose(2);
  EXPECT_FALSE(agreement_.Take()) << "the question stays open";
  AllPromise(agreement_, ballot, 20);
  EXPECT_EQ(agreement_.Take(),
            Decree(View{.epoch = 2, .from = 21, .members = {0, 1}, .ballot = ballot}));
  EXPECT_THAT(agreement_.TakeDeclined(), IsEmpty());
  EXPECT_FALSE(agreement_.Take());
}

// It is another process, to which what was said of the one before does not apply.
TEST_F(ViewAgreementOfNewcomers, OneThatComesAgainMeanwhileWaitsForTheNextQuestion) {
  agreement_.Admit(2);
  const uint32_t ballot = BallotOf(agreement_.Take());
  agreement_.Lose(2);
  agreement_.Admit(2);
  AllPromise(agreement_, ballot, 20);
  EXPECT_THAT(agreement_.view().newcomers, IsEmpty());
  EXPECT_TRUE(std::holds_alternative<View>(*agreement_.Take()));
  Answer(20);
  EXPECT_THAT(agreement_.view().newcomers, ElementsAre(2));
}

TEST_F(ViewAgreementOfNewcomers, TwoThatWaitWhenTheQuestionIsOpenedComeTogether) {
  agreement_.Lose(1);
  const uint32_t ballot = BallotOf(agreement_.Take());
  agreement_.Admit(2);
  agreement_.Admit(1);
  AllPromise(agreement_, ballot, 30);
  EXPECT_THAT(agreement_.view().members, ElementsAre(0));
  EXPECT_TRUE(std::holds_alternative<View>(*agreement_.Take()));
  Answer(31);
  EXPECT_THAT(agreement_.view().newcomers, ElementsAre(1, 2));
  EXPECT_THAT(agreement_.view().members, ElementsAre(0, 1, 2));
}

TEST_F(ViewAgreementOfNewcomers, ALossOpensTheQuestionAnewForThemToo) {
  agreement_.Admit(2);
  const uint32_t first = BallotOf(agreement_.Take());
  EXPECT_TRUE(agreement_.OnPromise(0, first, 20).ok());
  agreement_.Lose(1);
  Answer(25);
  EXPECT_EQ(agreement_.Take(),
            Decree(View{
                .epoch = 2, .from = 26, .members = {0, 2}, .ballot = first + 1, .newcomers = {2}}));
}

// Members are lost and come back, at any time; news travel in order, answers in any. Every member
// hears of a view without a newcomer before it hears of one with it, no view begins in a round that
// a veteran of it has begun, and in the end all who wait are in.
TEST(ViewAgreementTest, WhoComesBackIsMissedByAllFirst) {
  for (const uint64_t seed : testing::Seeds(1000)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    KeyedRandom random(seed, Purpose::kTopology);
    const auto n = static_cast<Member>(2 + random.Below(5));
    ViewAgreement agreement(FirstView(n), kLimit);
    struct Node {
      Round begun = -1;
      bool stopped = false;  // until the next view
      View heard = {};
      std::deque<ViewAgreement::Decree> mail = {};
    };
    std::map<Member, Node> nodes;
    for (Member member = 0; member < n; ++member) nodes[member].heard = FirstView(n);
    struct Answer {
      Member member;
      uint32_t ballot;
      Round round;
    };
    std::vector<Answer> answers;
    std::set<Member> gone;
    std::set<Member> waiting;
    const auto drain = [&] {
      while (const Decree decree = agreement.Take()) {
        for (auto& [member, node] : nodes) node.mail.push_back(*decree);
        const auto* view = std::get_if<View>(&*decree);
        if (view == nullptr) continue;
        for (const Member newcomer : view->newcomers) {
          ASSERT_EQ(waiting.erase(newcomer), 1u);
          nodes[newcomer] = {.begun = view->from - 1, .heard = *view};
        }
      }
    };
    const auto deliver = [&](Member member, Node& node) {
      const ViewAgreement::Decree decree = node.mail.front();
      node.mail.pop_front();
      if (const auto* prepare = std::get_if<Prepare>(&decree)) {
        node.stopped = true;
        answers.push_back({member, prepare->ballot, node.begun});
        return;
      }
      const View& view = std::get<View>(decree);
      EXPECT_LT(node.begun, view.from);
      for (const Member newcomer : view.newcomers) EXPECT_FALSE(node.heard.RankOf(newcomer));
      for (const Member veteran : view.Veterans()) EXPECT_TRUE(node.heard.RankOf(veteran));
      node.begun = std::max(node.begun, view.from - 1);
      node.stopped = false;
      node.heard = view;
    };
    constexpr int kSteps = 400;
    for (int step = 0; step < kSteps || !waiting.empty() || !agreement.agreed(); ++step) {
      ASSERT_LT(step, 100000);
      const bool calm = step >= kSteps;
      auto& [member, node] =
          *std::next(nodes.begin(), static_cast<ptrdiff_t>(random.Below(nodes.size())));
      if (!calm && nodes.size() > 1 && random.Unit() < 0.02) {
        const Member lost = member;
        nodes.erase(lost);
        std::erase_if(answers, [lost](const Answer& answer) { return answer.member == lost; });
        gone.insert(lost);
        agreement.Lose(lost);
      } else if (!gone.empty() && random.Unit() < 0.05) {
        const Member back = *gone.begin();
        gone.erase(back);
        waiting.insert(back);
        agreement.Admit(back);
      } else if (!calm && !waiting.empty() && random.Unit() < 0.01) {
        const Member lost = *waiting.begin();
        waiting.erase(lost);
        gone.insert(lost);
        agreement.Lose(lost);
      } else if (!node.mail.empty() && random.Unit() < 0.5) {
        deliver(member, node);
      } else if (!answers.empty() && random.Unit() < 0.5) {
        const auto which = static_cast<ptrdiff_t>(random.Below(answers.size()));
        const Answer answer = answers[which];
        answers.erase(answers.begin() + which);
        EXPECT_TRUE(agreement.OnPromise(answer.member, answer.ballot, answer.round).ok());
      } else if (!node.stopped) {
        ++node.begun;
      }
      drain();
    }
    EXPECT_EQ(agreement.living().size(), nodes.size());
  }
}

}  // namespace
}  // namespace grapevine
