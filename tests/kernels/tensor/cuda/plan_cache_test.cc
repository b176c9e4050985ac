#include "kernels/tensor/cuda/library/plan_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/status.h"

namespace grapevine {
namespace {

// Candidates that need `bytes` and take `seconds`; a negative time cannot run.
struct Candidates {
  std::vector<int64_t> bytes;
  std::vector<double> seconds;
  std::vector<size_t> measured;

  absl::StatusOr<size_t> Choose(PlanCache& cache, const std::string& key, int64_t most = 100) {
    ASSIGN_OR_RETURN(const auto fastest,
                     cache.Choose({key, bytes, most}, [&](size_t index) -> absl::StatusOr<double> {
                       measured.push_back(index);
                       if (seconds[index] < 0) {
                         return absl::InternalError("plan " + std::to_string(index));
                       }
                       return seconds[index];
                     }));
    return fastest.index;
  }
};

TEST(PlanCacheTest, TakesTheFastestAndRemembersIt) {
  PlanCache cache;
  Candidates candidates{{0, 50, 10}, {3, 1, 2}};
  EXPECT_EQ(*candidates.Choose(cache, "a"), 1u);
  EXPECT_EQ(candidates.measured, (std::vector<size_t>{0, 1, 2, 0, 1, 2}));
  candidates.seconds = {1, 2, 3};
  EXPECT_EQ(*candidates.Choose(cache, "a"), 1u);
  EXPECT_EQ(candidates.measured.size(), 6u) << "measured again";
  EXPECT_EQ(*candidates.Choose(cache, "b"), 0u) << "another key has an answer of its own";
}

TEST(PlanCacheTest, OfEquallyFastOnesTheFirst) {
  PlanCache cache;
  Candidates candidates{{0, 0}, {2, 2}};
  EXPECT_EQ(*candidates.Choose(cache, "a"), 0u);
}

TEST(PlanCacheTest, ASlowStartDoesNotDecide) {
  PlanCache cache;
  // The first is the fastest, but for its first time.
  const std::vector<int64_t> bytes = {0, 0};
  std::vector<double> seconds = {5, 2, 1, 2};
  auto next = seconds.begin();
  const auto choice = cache.Choose({"product", bytes, 100},
                                   [&](size_t) -> absl::StatusOr<double> { return *next++; });
  EXPECT_EQ(choice->index, 0u);
  EXPECT_EQ(choice->seconds, 1);
}

TEST(PlanCacheTest, WhatFailsInItsSecondTurnIsNotTaken) {
  PlanCache cache;
  const std::vector<int64_t> bytes = {0, 0};
  std::vector<absl::StatusOr<double>> seconds = {1, 2, absl::InternalError("once only"), 2};
  auto next = seconds.begin();
  const auto choice = cache.Choose({"product", bytes, 100}, [&](size_t) { return *next++; });
  EXPECT_EQ(choice->index, 1u);
}

TEST(PlanCacheTest, PassesOverWhatNeedsTooMuchOrCannotRun) {
  PlanCache cache;
  Candidates candidates{{101, 0, 100, 0}, {1, -1, 3, 4}};
  EXPECT_EQ(*candidates.Choose(cache, "a"), 2u);
  EXPECT_EQ(candidates.measured, (std::vector<size_t>{1, 2, 3, 2, 3}));
  EXPECT_EQ(*candidates.Choose(cache, "a", 50), 3u) << "what is remembered needs too much now";
}

TEST(PlanCacheTest, TriesNoOtherAfterOneThatDoesNotEnd) {
  PlanCache cache;
  std::vector<size_t> measured;
  const std::vector<int64_t> bytes = {0, 0, 0};
  const auto choice =
      cache.Choose({"product", bytes, 100}, [&](size_t index) -> absl::StatusOr<double> {
        measured.push_back(index);
        if (index == 1) return absl::DeadlineExceededError("plan 1");
        return 1;
      });
  EXPECT_EQ(choice.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(measured, (std::vector<size_t>{0, 1}));
}

TEST(PlanCacheTest, SaysWhyThereIsNone) {
  PlanCache cache;
  Candidates large{{200}, {1}};
  EXPECT_EQ(large.Choose(cache, "product").status().message(),
            "product: no plan needs at most 100 bytes of workspace");
  Candidates broken{{0, 0}, {-1, -1}};
  EXPECT_EQ(broken.Choose(cache, "product").status().message(), "plan 1");
}

}  // namespace
}  // namespace grapevine
