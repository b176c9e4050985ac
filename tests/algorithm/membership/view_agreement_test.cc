// Members are lost at any moment, and answers come in any order: those who are left agree on one
// view after another, each from a round that nobody has begun.
#include "algorithm/membership/view_agreement.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

using Decree = std::optional<ViewAgreement::Decree>;

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
  for (uint64_t seed = 0; seed < 2000; ++seed) {
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

}  // namespace
}  // namespace grapevine
