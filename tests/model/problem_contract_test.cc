// What every registered problem without data promises, whatever it minimizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr ProblemRequest kRequest = {.nodes = 4, .batch_size = 8, .seed = 3};

absl::StatusOr<std::unique_ptr<Problem>> Make(const std::string& text) {
  ASSIGN_OR_RETURN(const auto named, Problems().Read(text));
  return named.kind->make(named.spec, kRequest);
}

// By bits: NaN is not equal to itself.
bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

class ProblemContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto problem = Make(GetParam());
    ASSERT_TRUE(problem.ok()) << problem.status();
    problem_ = *std::move(problem);
  }

  std::vector<std::unique_ptr<Objective>> Objectives(int64_t first, int64_t last) const {
    auto objectives = problem_->MakeObjectives(first, last, {});
    EXPECT_TRUE(objectives.ok()) << objectives.status();
    return *std::move(objectives);
  }

  std::vector<float> Start() const {
    std::vector<float> replica(problem_->layout().size, kUnwritten);
    problem_->Initialize(replica.data());
    return replica;
  }

  struct Computed {
    double loss;
    std::vector<float> gradient;
  };
  Computed At(Objective& objective, const std::vector<float>& replica, int64_t round) const {
    Computed computed{0, std::vector<float>(replica.size(), kUnwritten)};
    const auto loss = objective.Gradient(replica.data(), round, computed.gradient.data());
    EXPECT_TRUE(loss.ok()) << loss.status();
    computed.loss = *loss;
    return computed;
  }

  static constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
  std::unique_ptr<Problem> problem_;
};

TEST_P(ProblemContractTest, IsWhatItsKindSays) {
  EXPECT_EQ(problem_->learns(), Learns(GetParam()));
  EXPECT_FALSE(SeesData(GetParam()));
  EXPECT_EQ(problem_->data(), nullptr);
  EXPECT_GT(problem_->layout().size, 0);
  const auto evaluator = problem_->MakeEvaluator({}, {});
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  EXPECT_EQ(*evaluator != nullptr, problem_->learns());
}

TEST_P(ProblemContractTest, AllNodesBeginAlike) {
  const std::vector<float> start = Start();
  EXPECT_TRUE(SameBits(Start(), start));
  if (problem_->learns()) {
    EXPECT_TRUE(std::ranges::all_of(start, [](float x) { return std::isfinite(x); }));
  }
  for (const auto& objective : Objectives(0, kRequest.nodes)) {
    EXPECT_EQ(objective->layout().Fingerprint(), problem_->layout().Fingerprint());
    EXPECT_EQ(objective->batch_size(), kRequest.batch_size);
    std::vector<float> replica(start.size(), kUnwritten);
    objective->Initialize(replica.data());
    EXPECT_TRUE(SameBits(replica, start));
  }
}

// So that a run is the same however its nodes are shared out to processes, and may begin in
// the middle.
TEST_P(ProblemContractTest, AGradientFollowsFromReplicaNodeAndRoundAlone) {
  const std::vector<float> start = Start();
  const auto together = Objectives(0, kRequest.nodes);
  ASSERT_EQ(static_cast<int64_t>(together.size()), kRequest.nodes);
  for (int64_t node = 0; node < kRequest.nodes; ++node) {
    const auto alone = Objectives(node, node + 1);
    ASSERT_EQ(alone.size(), 1u);
    const Computed later = At(*alone[0], start, 7);
    const Computed first = At(*together[node], start, 0);
    EXPECT_TRUE(SameBits(At(*alone[0], start, 0).gradient, first.gradient)) << node;
    const Computed again = At(*together[node], start, 7);
    EXPECT_TRUE(SameBits(again.gradient, later.gradient)) << node;
    EXPECT_EQ(again.loss, later.loss) << node;
    if (!problem_->learns()) continue;
    EXPECT_TRUE(std::isfinite(first.loss));
    EXPECT_TRUE(std::ranges::all_of(first.gradient, [](float x) { return std::isfinite(x); }))
        << "every element is written";
  }
}

TEST_P(ProblemContractTest, AReplicaIsOnlyRead) {
  std::vector<float> replica = Start();
  const std::vector<float> before = replica;
  At(*Objectives(0, 1)[0], replica, 0);
  EXPECT_TRUE(SameBits(replica, before));
}

TEST_P(ProblemContractTest, AnEvaluationFollowsFromTheModelAlone) {
  auto evaluator = *problem_->MakeEvaluator({}, {});
  if (evaluator == nullptr) return;  // nothing is learnt
  const SharedVector model = NewSharedVector(problem_->layout().size);
  problem_->Initialize(model.data.get());
  const auto first = evaluator->Evaluate(model);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(first->loss.has_value());
  EXPECT_TRUE(std::isfinite(*first->loss));
  const auto again = evaluator->Evaluate(model);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->loss, first->loss);
  EXPECT_EQ(again->accuracy, first->accuracy);
  EXPECT_TRUE(SameBits({model.span().begin(), model.span().end()}, Start()));
}

TEST_P(ProblemContractTest, AnEvaluationOnASampleSaysOfHowMany) {
  auto evaluator = *problem_->MakeEvaluator({}, {});
  if (evaluator == nullptr) return;  // nothing is learnt
  const SharedVector model = NewSharedVector(problem_->layout().size);
  problem_->Initialize(model.data.get());
  const auto all = evaluator->Evaluate(model);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_FALSE(all->samples.has_value());
  const auto some = evaluator->EvaluateOnSample(model, 3);
  ASSERT_TRUE(some.ok()) << some.status();
  if (problem_->data() != nullptr) {
    EXPECT_EQ(some->samples, 3);
    EXPECT_NE(some->loss, all->loss);
  } else {
    EXPECT_EQ(some->loss, all->loss) << "there are no samples";
  }
}

TEST_P(ProblemContractTest, RefusesWhatItDoesNotKnow) {
  const absl::Status status = Make(GetParam() + ":colour=blue").status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("colour"));
}

TEST(Problems, EveryKindHasExamplesOfItself) { testing::ExpectOwnExamples(Problems()); }

INSTANTIATE_TEST_SUITE_P(Registered, ProblemContractTest,
                         ::testing::ValuesIn(testing::ExamplesOf(Problems())),
                         testing::SpecTestName);

}  // namespace
}  // namespace grapevine
