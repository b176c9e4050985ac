#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "algorithm/async_gradients.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Round> Limits(const GradientBudget& budget) {
  std::vector<Round> limits;
  for (Rank rank = 0; rank < budget.workers(); ++rank) limits.push_back(budget.limit(rank));
  return limits;
}

// Workers that differ in speed, on a clock of their own. They report when half of what was ahead
// of them is done, and at their limits.
class Workers {
 public:
  Workers(int64_t budget, std::vector<int64_t> step_times)
      : budget_(static_cast<Rank>(step_times.size())), step_times_(std::move(step_times)) {
    workers_.resize(step_times_.size());
    for (const Rank rank : budget_.Extend(budget)) Hear(rank);
  }

  // Runs to the end. Each gets the time at which it ended.
  std::vector<int64_t> Run() {
    while (!ends_.empty()) {
      const auto [when, rank] = ends_.top();
      ends_.pop();
      now_ = when;
      EndStep(rank);
    }
    std::vector<int64_t> ended;
    for (const Worker& worker : workers_) ended.push_back(worker.ended);
    return ended;
  }

  const GradientBudget& budget() const { return budget_; }
  int64_t steps(Rank rank) const { return workers_[rank].steps; }
  int64_t done() const {
    int64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.steps;
    return sum;
  }

 private:
  struct Worker {
    int64_t steps = 0;
    int64_t limit = 0;
    int64_t ahead = 0;  // when it last heard or reported
    bool computing = false;
    int64_t ended = 0;
  };
  using End = std::pair<int64_t, Rank>;

  void Hear(Rank rank) {
    Worker& worker = workers_[rank];
    EXPECT_GT(budget_.limit(rank), worker.limit) << "a limit that has not moved outwards";
    limits_ += budget_.limit(rank) - worker.limit;
    worker.limit = budget_.limit(rank);
    worker.ahead = worker.limit - worker.steps;
    Begin(rank);
  }
  void Begin(Rank rank) {
    Worker& worker = workers_[rank];
    if (worker.computing || worker.steps >= worker.limit) return;
    worker.computing = true;
    ends_.push({now_ + step_times_[rank], rank});
  }
  void EndStep(Rank rank) {
    Worker& worker = workers_[rank];
    worker.computing = false;
    worker.ended = now_;
    ++worker.steps;
    if (2 * (worker.limit - worker.steps) <= worker.ahead) Report(rank);
    Begin(rank);
  }
  void Report(Rank rank) {
    Worker& worker = workers_[rank];
    worker.ahead = worker.limit - worker.steps;
    const absl::StatusOr<bool> moved = budget_.OnSteps(rank, worker.steps);
    ASSERT_TRUE(moved.ok()) << moved.status();
    if (*moved) Hear(rank);
    ASSERT_LE(limits_, budget_.total());
    EXPECT_EQ(limits_ == budget_.total(), budget_.spent());
    EXPECT_TRUE(worker.steps < worker.limit || budget_.spent())
        << "rank " << rank << " waits, and something is left";
  }
  GradientBudget budget_;
  const std::vector<int64_t> step_times_;
  std::vector<Worker> workers_;
  int64_t limits_ = 0;  // their sum
  int64_t now_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

TEST(GradientBudget, IsUsedUpExactlyWhateverTheSpeeds) {
  for (const uint64_t seed : testing::Seeds(60)) {
    for (const Rank n : {1, 2, 3, 5, 8, 1000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", n = " << n);
      KeyedRandom random(seed, Purpose::kStraggler, n);
      // Also smaller than the number of workers.
      const auto total = static_cast<int64_t>(random.Below(n >= 1000 ? 4 * n : 100 * n));
      std::vector<int64_t> times;
      for (Rank rank = 0; rank < n; ++rank) {
        times.push_back(1 + static_cast<int64_t>(random.Below(1000)));
      }
      Workers workers(total, times);
      workers.Run();
      EXPECT_TRUE(workers.budget().spent());
      EXPECT_EQ(workers.done(), total);
      EXPECT_EQ(workers.budget().steps(), total);
    }
  }
}

TEST(GradientBudget, ANodeFiveTimesSlowerEndsAtMostTwoOfItsStepsAfterTheOthers) {
  for (const uint64_t seed : testing::Seeds(60)) {
    for (const Rank n : {2, 3, 5, 8, 1000}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", n = " << n);
      KeyedRandom random(seed, Purpose::kStraggler, n);
      constexpr int64_t kStep = 1000;
      std::vector<int64_t> times;
      for (Rank rank = 0; rank < n; ++rank) {
        times.push_back(kStep + static_cast<int64_t>(random.Below(kStep / 10)));
      }
      const auto slow = static_cast<Rank>(random.Below(n));
      times[slow] = 5 * kStep;
      const int64_t rounds = 1 + static_cast<int64_t>(random.Below(n >= 1000 ? 20 : 2000));
      Workers workers(rounds * n, times);
      std::vector<int64_t> ended = workers.Run();
      const int64_t slow_end = std::exchange(ended[slow], 0);
      EXPECT_LE(slow_end - *std::ranges::max_element(ended), 2 * 5 * kStep);
      if (rounds < 100) continue;
      EXPECT_LT(workers.steps(slow), rounds / 2);
    }
  }
}

TEST(GradientBudget, AnEqualShareEachWhereAllAreAsFast) {
  Workers workers(8 * 1000, std::vector<int64_t>(8, 10));
  workers.Run();
  for (Rank rank = 0; rank < 8; ++rank) EXPECT_NEAR(workers.steps(rank), 1000, 1) << rank;
}

// Over a network an answer takes time; a worker that has come to its limit meanwhile ends its
// window.
TEST(GradientBudget, WorkersThatReportEveryStepAreAtTheirLimitsOnlyInTheLastTwoRounds) {
  for (const Rank n : {1, 2, 3, 8}) {
    for (const int64_t rounds : {1, 2, 3, 16, 40}) {
      SCOPED_TRACE(::testing::Message() << rounds << " rounds, n = " << n);
      GradientBudget budget(n);
      budget.Extend(rounds * n);
      for (Round step = 1; step + 1 < rounds; ++step) {
        for (Rank rank = 0; rank < n; ++rank) {
          EXPECT_GT(budget.limit(rank), step) << "rank " << rank << " after step " << step - 1;
          ASSERT_TRUE(budget.OnSteps(rank, step).ok());
        }
      }
      for (Rank rank = 0; rank < n; ++rank) EXPECT_NEAR(budget.limit(rank), rounds, 1) << rank;
    }
  }
}

// With less ahead of them than a window they would end it early, whatever is left: a run of 600
// gradients on four workers spent its last third in windows of two and three.
TEST(GradientBudget, WindowsAreWholeUntilTheLastTwoOfEachWorker) {
  for (const Rank n : {1, 2, 4, 8}) {
    for (const Round window : {1, 2, 4, 10, 100}) {
      for (const int64_t windows : {1, 2, 3, 16, 40}) {
        SCOPED_TRACE(::testing::Message() << windows << " windows of " << window << ", n = " << n);
        GradientBudget budget(n, window);
        budget.Extend(windows * window * n);
        // A worker reports when a window is over, and the answer comes in the next.
        for (int64_t over = 0; over + 3 <= windows; ++over) {
          for (Rank rank = 0; rank < n; ++rank) {
            EXPECT_GE(budget.limit(rank), (over + 1) * window)
                << "rank " << rank << " after window " << over;
            ASSERT_TRUE(budget.OnSteps(rank, std::min(over * window, budget.limit(rank))).ok());
          }
        }
        for (Rank rank = 0; rank < n; ++rank) {
          ASSERT_TRUE(budget.OnSteps(rank, budget.limit(rank)).ok());
        }
        EXPECT_LE(budget.total(), windows * window * n);
      }
    }
  }
}

TEST(GradientBudget, ASmallOneGivesTheFirstWorkersOneEach) {
  GradientBudget budget(5);
  EXPECT_THAT(budget.Extend(3), ElementsAre(0, 1, 2));
  EXPECT_EQ(budget.limit(2), 1);
  EXPECT_EQ(budget.limit(3), 0);
  EXPECT_TRUE(budget.spent());
  EXPECT_FALSE(*budget.OnSteps(0, 1));
}

TEST(GradientBudget, OneThatIsExtendedGoesOnWithThoseThatWait) {
  GradientBudget budget(2);
  EXPECT_THAT(budget.Extend(2), ElementsAre(0, 1));
  EXPECT_FALSE(*budget.OnSteps(0, 1));
  EXPECT_THAT(budget.Extend(3), ElementsAre(0));
  EXPECT_EQ(budget.limit(0), 2);
  EXPECT_THAT(budget.Extend(2), IsEmpty());
  EXPECT_EQ(budget.total(), 3);
}

TEST(GradientBudget, TheOthersDoWhatALostWorkerHasNotDone) {
  for (const uint64_t seed : testing::Seeds(200)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    KeyedRandom random(seed, Purpose::kTopology);
    const auto n = static_cast<Rank>(2 + random.Below(5));
    GradientBudget budget(n, static_cast<Round>(1 + random.Below(4)));
    const auto total = static_cast<int64_t>(random.Below(400));
    budget.Extend(total);
    std::vector<Round> steps(n);
    std::set<Rank> left;
    bool moves = true;
    while (moves) {
      moves = false;
      for (Rank rank = 0; rank < n; ++rank) {
        if (left.contains(rank)) continue;
        if (std::ssize(left) + 1 < n && random.Below(20) == 0) {
          const std::vector<Round> before = Limits(budget);
          const std::vector<Rank> moved = budget.Leave(rank);
          left.insert(rank);
          EXPECT_EQ(budget.limit(rank), steps[rank]);
          for (Rank other = 0; other < n; ++other) {
            const bool grown = budget.limit(other) > before[other];
            EXPECT_EQ(grown, std::ranges::count(moved, other) == 1) << "rank " << other;
          }
          EXPECT_THAT(budget.Leave(rank), IsEmpty()) << "it has left";
          moves = true;
          continue;
        }
        if (steps[rank] == budget.limit(rank)) continue;
        ASSERT_TRUE(budget.OnSteps(rank, ++steps[rank]).ok());
        moves = true;
      }
    }
    EXPECT_EQ(std::accumulate(steps.begin(), steps.end(), Round{0}), total);
    EXPECT_EQ(budget.steps(), total);
    EXPECT_TRUE(budget.spent());
  }
}

TEST(GradientBudget, RefusesWhatNoWorkerCanHaveDone) {
  GradientBudget budget(2);
  budget.Extend(100);
  const Round limit = budget.limit(1);
  ASSERT_GT(limit, 1);
  ASSERT_TRUE(budget.OnSteps(1, 2).ok());
  EXPECT_THAT(budget.OnSteps(1, 1).status().message(),
              HasSubstr("says that it has done 1 steps, after 2"));
  EXPECT_THAT(budget.OnSteps(1, 1000).status().message(),
              HasSubstr("1000 steps, where its limit is "));
  EXPECT_FALSE(budget.OnSteps(0, -1).ok());
  EXPECT_EQ(budget.steps(), 2);
}

}  // namespace
}  // namespace grapevine
