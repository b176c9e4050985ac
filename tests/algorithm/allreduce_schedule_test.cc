// What makes a schedule an allreduce, for every kind and number of ranks: pure
// functions, so nothing is sent here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "tests/algorithm/allreduce_kinds.h"

namespace grapevine::testing {
namespace {

using Schedules = std::vector<std::unique_ptr<const AllreduceSchedule>>;

absl::StatusOr<AllreduceFactory> Read(const std::string& text, Rank size) {
  const Spec spec = *ParseSpec(text);
  SpecReader reader(spec);
  return ReadAllreduce(spec, reader, size);
}

// All ranks' of each part.
std::vector<Schedules> MakeParts(const std::string& text, Rank size) {
  const AllreduceFactory make = *Read(text, size);
  std::vector<Schedules> parts(make(0).size());
  for (Rank rank = 0; rank < size; ++rank) {
    AllreduceSchedules of_rank = make(rank);
    for (size_t part = 0; part < parts.size(); ++part) {
      parts[part].push_back(std::move(of_rank[part]));
    }
  }
  return parts;
}

// Those of a kind without parts.
Schedules Make(const std::string& text, Rank size) {
  std::vector<Schedules> parts = MakeParts(text, size);
  EXPECT_EQ(parts.size(), 1u) << text;
  return std::move(parts[0]);
}

int LevelsOf(const std::string& text, Rank size) { return (*Read(text, size))(0)[0]->levels(); }

int64_t ElementsSent(const AllreduceSchedule& schedule, int64_t elements) {
  int64_t sum = 0;
  for (int level = 0; level < schedule.levels(); ++level) {
    for (const ElementRange& range : schedule.Step(level, elements).sent) sum += range.size();
  }
  return sum;
}

class AllreduceScheduleContract : public ::testing::TestWithParam<std::string> {};

void ExpectMatchingSteps(const Schedules& schedules, int64_t elements) {
  const auto size = static_cast<Rank>(schedules.size());
  for (int level = 0; level < schedules[0]->levels(); ++level) {
    for (Rank rank = 0; rank < size; ++rank) {
      ASSERT_EQ(schedules[rank]->levels(), schedules[0]->levels());
      const AllreduceStep step = schedules[rank]->Step(level, elements);
      if (step.to != kNobody) {
        const AllreduceStep other = schedules[step.to]->Step(level, elements);
        EXPECT_EQ(other.from, rank) << size << " ranks, level " << level;
        EXPECT_EQ(other.received, step.sent) << size << " ranks, level " << level;
      }
      if (step.from != kNobody) {
        EXPECT_EQ(schedules[step.from]->Step(level, elements).to, rank)
            << size << " ranks, level " << level;
      }
    }
  }
}

TEST_P(AllreduceScheduleContract, WhatOneSendsTheOtherExpects) {
  for (const Rank size : SomeSizes()) {
    for (const Schedules& schedules : MakeParts(GetParam(), size)) {
      for (const int64_t elements : {1, 7, 64, 1001}) ExpectMatchingSteps(schedules, elements);
    }
  }
}

// counts[rank][element][r]: how often rank r's value is in rank's partial sum.
void ExpectWholeSums(const Schedules& schedules) {
  constexpr int64_t kElements = 41;
  const auto size = static_cast<Rank>(schedules.size());
  using Sum = std::vector<int>;
  std::vector<std::vector<Sum>> counts(size, std::vector<Sum>(kElements, Sum(size)));
  std::vector<std::vector<bool>> given(size, std::vector<bool>(kElements));
  for (Rank rank = 0; rank < size; ++rank) {
    for (Sum& sum : counts[rank]) sum[rank] = 1;
  }
  const int levels = schedules[0]->reduce_levels() + schedules[0]->exchange_levels();
  for (int level = 0; level < levels; ++level) {
    const auto before = counts;
    for (Rank rank = 0; rank < size; ++rank) {
      const AllreduceStep step = schedules[rank]->Step(level, kElements);
      for (const ElementRange& range : step.sent) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          EXPECT_FALSE(given[rank][i]) << "sent twice";
          given[rank][i] = schedules[rank]->Reduces(level);
        }
      }
      for (const ElementRange& range : step.received) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          EXPECT_FALSE(given[rank][i]) << "added to what was sent";
          for (Rank r = 0; r < size; ++r) counts[rank][i][r] += before[step.from][i][r];
        }
      }
    }
  }
  for (int64_t i = 0; i < kElements; ++i) {
    int whole = 0;
    for (Rank rank = 0; rank < size; ++rank) {
      if (given[rank][i]) continue;
      ++whole;
      EXPECT_EQ(counts[rank][i], Sum(size, 1)) << size << " ranks, element " << i;
    }
    // Where pairs exchange, 2^k ranks have it.
    EXPECT_EQ(whole, 1 << schedules[0]->exchange_levels()) << size << " ranks, element " << i;
  }
}

TEST_P(AllreduceScheduleContract, TheFirstHalfLeavesEveryElementsSumWholeWhereItWasNotSentOn) {
  for (const Rank size : SomeSizes()) {
    for (const Schedules& schedules : MakeParts(GetParam(), size)) ExpectWholeSums(schedules);
  }
}

void ForEach(const AllreduceStep::Ranges& ranges, const std::function<void(int64_t)>& visit) {
  for (const ElementRange& range : ranges) {
    for (int64_t i = range.begin; i < range.end; ++i) visit(i);
  }
}

// Each rank has the sums of the elements that it has not given away, and in the end all.
void ExpectSumsEverywhere(const Schedules& schedules) {
  constexpr int64_t kElements = 41;
  const auto size = static_cast<Rank>(schedules.size());
  const AllreduceSchedule& any = *schedules[0];
  std::vector<std::vector<bool>> has(size, std::vector<bool>(kElements, true));
  std::vector<std::vector<int>> given_in(size, std::vector<int>(kElements, -1));
  for (Rank rank = 0; rank < size; ++rank) {
    for (int level = 0; level < any.reduce_levels(); ++level) {
      ForEach(schedules[rank]->Step(level, kElements).sent, [&](int64_t i) {
        has[rank][i] = false;
        given_in[rank][i] = level;
      });
    }
  }
  for (int level = any.first_levels(); level < any.levels(); ++level) {
    const auto before = has;
    for (Rank rank = 0; rank < size; ++rank) {
      const AllreduceStep step = schedules[rank]->Step(level, kElements);
      ForEach(step.sent, [&](int64_t i) { EXPECT_TRUE(before[rank][i]) << "sent too early"; });
      ForEach(step.received, [&](int64_t i) {
        EXPECT_FALSE(before[rank][i]) << "received twice";
        EXPECT_EQ(given_in[rank][i], schedules[rank]->SentIn(level - any.first_levels()));
        has[rank][i] = true;
      });
    }
  }
  for (Rank rank = 0; rank < size; ++rank) {
    EXPECT_EQ(std::ranges::count(has[rank], false), 0) << "rank " << rank << " of " << size;
  }
}

TEST_P(AllreduceScheduleContract, TheSecondHalfBringsEachSumOnceToWhoHasSentAPartOfIt) {
  for (const Rank size : SomeSizes()) {
    for (const Schedules& schedules : MakeParts(GetParam(), size)) ExpectSumsEverywhere(schedules);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AllreduceScheduleContract, ::testing::ValuesIn(AllreduceKinds()),
                         [](const auto& info) { return KindName(info.param); });

TEST(AllreduceLevels, AreThoseOfTheClosedForms) {
  for (const Rank n : SomeSizes()) {
    const int log = std::bit_width(static_cast<unsigned>(n - 1));
    EXPECT_EQ(Make("allreduce", n)[0]->levels(), 2 * (n - 1));
    EXPECT_EQ(Make("allreduce:tree", n)[0]->levels(), 2 * log);
    EXPECT_EQ(Make("allreduce:halving-doubling", n)[0]->levels(), 2 * log) << n;
    const bool power = std::has_single_bit(static_cast<unsigned>(n));
    EXPECT_EQ(Make("allreduce:recursive-doubling", n)[0]->levels(), power ? log : log + 1) << n;
  }
  EXPECT_EQ(Make("allreduce:hierarchical:groups=4", 32)[0]->levels(), 2 * 3 + 2 * 3);
  EXPECT_EQ(Make("allreduce:hierarchical:groups=3", 15)[0]->levels(), 2 * 3 + 2 * 2);
  EXPECT_EQ(Make("allreduce:torus:4x8", 32)[0]->levels(), 2 * 3 + 2 * 7);
  // The figures of arXiv:1811.05233.
  EXPECT_EQ(LevelsOf("allreduce:torus:48x72", 3456), 236);
  EXPECT_EQ(LevelsOf("allreduce", 3456), 6910);
  EXPECT_EQ(LevelsOf("allreduce:torus", 1024), 124);
}

TEST(AllreduceBytes, AreThoseOfTheClosedForms) {
  for (const Rank n : SomeSizes()) {
    const int64_t elements = int64_t{n} * 60;  // every piece a whole number of them
    for (const char* kind : {"allreduce", "allreduce:halving-doubling"}) {
      for (const auto& schedule : Make(kind, n)) {
        EXPECT_EQ(ElementsSent(*schedule, elements), 2 * (n - 1) * 60) << kind << " of " << n;
      }
    }
    int64_t tree = 0;
    for (const auto& schedule : Make("allreduce:tree", n))
      tree += ElementsSent(*schedule, elements);
    EXPECT_EQ(tree, 2 * (n - 1) * elements) << "all of " << n << " together";
    std::vector<int64_t> double_tree(n);
    for (const Schedules& half : MakeParts("allreduce:double-tree", n)) {
      for (Rank rank = 0; rank < n; ++rank)
        double_tree[rank] += ElementsSent(*half[rank], elements / 2);
    }
    EXPECT_LE(std::ranges::max(double_tree), 2 * elements) << n;
    EXPECT_EQ(std::reduce(double_tree.begin(), double_tree.end()), 2 * (n - 1) * elements) << n;
  }
  for (const auto& schedule : Make("allreduce:torus:4x8", 32)) {
    EXPECT_EQ(ElementsSent(*schedule, 320), 2 * 7 * 40 + 2 * 3 * 10);
  }
  const Schedules hierarchical = Make("allreduce:hierarchical:groups=4", 32);
  EXPECT_EQ(ElementsSent(*hierarchical[0], 400), 3 * 400 + 2 * 3 * 100) << "a leader of 8";
  EXPECT_EQ(ElementsSent(*hierarchical[1], 400), 400) << "a leaf";
}

// Each of the two trees of n ranks has a height of log2 n, every edge of which costs two levels at
// most, and a piece more costs two.
TEST(DoubleTree, PiecesFollowOneAnotherInEverySecondLevel) {
  for (const Rank n : {2, 3, 8, 17, 100, 1000, 4096}) {
    const auto levels = [n](int pieces) {
      return LevelsOf(absl::StrCat("allreduce:double-tree:pieces=", pieces), n);
    };
    const int log = std::bit_width(static_cast<unsigned>(n - 1));
    EXPECT_LE(levels(1), 2 * 2 * log) << n;
    EXPECT_EQ(levels(9), levels(1) + 2 * 2 * 8) << n;
  }
}

TEST(DoubleTree, WhoHasChildrenInOneTreeIsALeafInTheOther) {
  for (const Rank n : {2, 6, 8, 64, 1000}) {
    std::vector<int> inside(n);
    for (const Schedules& tree : MakeParts("allreduce:double-tree:pieces=1", n)) {
      for (Rank rank = 0; rank < n; ++rank) {
        bool receives = false;
        for (int level = 0; level < tree[0]->reduce_levels(); ++level) {
          receives = receives || tree[rank]->ReduceStep(level, 10).from != kNobody;
        }
        inside[rank] += receives ? 1 : 0;
      }
    }
    EXPECT_THAT(inside, ::testing::Each(1)) << n;
  }
}

TEST(HalvingDoubling, HalvesWithTheNearestRankFirst) {
  const Schedules schedules = Make("allreduce:halving-doubling", 8);
  for (int level = 0; level < 3; ++level) {
    const AllreduceStep step = schedules[5]->ReduceStep(level, 64);
    EXPECT_EQ(step.to, 5 ^ (1 << level));
    EXPECT_EQ(step.from, step.to);
    EXPECT_EQ(step.sent[0].size(), 32 >> level);
  }
}

TEST(AllreduceRegistry, DefaultsAreNearTheSquareRoot) {
  EXPECT_EQ(Make("allreduce:torus", 12)[0]->name(), "allreduce:torus:3x4");
  EXPECT_EQ(Make("allreduce:torus", 7)[0]->name(), "allreduce:torus:1x7");
  EXPECT_EQ(Make("allreduce:hierarchical", 24)[0]->name(), "allreduce:hierarchical:groups=4");
  EXPECT_EQ(Make("allreduce:hierarchical", 7)[0]->name(), "allreduce:hierarchical:groups=1");
}

TEST(AllreduceRegistry, RefusesByNameWithTheNearestThatWorks) {
  const auto error = [](const char* spec, Rank size) {
    return std::string(Read(spec, size).status().message());
  };
  EXPECT_THAT(error("allreduce:bush", 8),
              ::testing::HasSubstr("allreduce:bush: unknown allreduce 'bush'; known: "));
  EXPECT_THAT(error("allreduce:tre", 8), ::testing::HasSubstr("did you mean tree?"));
  EXPECT_THAT(error("allreduce:bush", 8),
              ::testing::HasSubstr("hierarchical[:groups=G], recursive-doubling, "));
  EXPECT_THAT(error("allreduce:hierarchical:groups=5", 24),
              ::testing::HasSubstr("24 nodes do not make 5 groups of equal size; the nearest that "
                                   "do: groups=4"));
  EXPECT_THAT(error("allreduce:torus:5x6", 24),
              ::testing::HasSubstr("5x6 is not a grid of 24 nodes with two sides; the nearest "
                                   "that is: torus:4x6"));
  for (const char* bad : {"8", "2x2x2", "1x1x8"}) {
    EXPECT_THAT(error((std::string("allreduce:torus:") + bad).c_str(), 8),
                ::testing::HasSubstr("with two sides; the nearest that is: torus:"))
        << bad;
  }
  for (const char* bad : {"4x", "x4", "0x4", "-2x-4", "axb", "99999999999x1"}) {
    EXPECT_THAT(error((std::string("allreduce:torus:") + bad).c_str(), 8),
                ::testing::HasSubstr("write 4x8"))
        << bad;
  }
  EXPECT_THAT(error("allreduce:torus:65536x65536", 8), ::testing::HasSubstr("31 bits"));
}

}  // namespace
}  // namespace grapevine::testing
