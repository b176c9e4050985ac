// Every allreduce on an empty network takes what its closed form says.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/network/backward_cost.h"
#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

constexpr int64_t kElements = 270'000;  // 1.08 MB
constexpr double kBytes = 4.0 * kElements;

struct Link {
  const char* name;
  double bandwidth;  // bytes per nanosecond
  Nanoseconds latency;

  double Beta() const { return 1 / bandwidth; }
};

constexpr Link kLinks[] = {{"5 Mbit/s, 0.15 ms", 5e6 / 8e9, 150'000},
                           {"1 Gbit/s, 64 ms", 1e9 / 8e9, 64'000'000},
                           {"10 Gbit/s, 50 us", 10e9 / 8e9, 50'000}};

// When all nodes rest after `rounds` of gradients that take `compute`.
Nanoseconds Simulate(const std::string& kind, Rank nodes, const Link& link, Round rounds,
                     Nanoseconds compute) {
  return TimedRun{.algorithm = kind,
                  .nodes = nodes,
                  .rounds = rounds,
                  .elements = kElements,
                  .network = {.bandwidth = link.bandwidth, .latency = link.latency},
                  .compute = std::make_shared<FixedComputeTime>(compute)}
      .Last();
}

// The first gradient gives the first credits time to arrive.
double Allreduce(const std::string& kind, Rank nodes, const Link& link) {
  return static_cast<double>(Simulate(kind, nodes, link, 1, link.latency) - link.latency);
}

int Log2(Rank n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

double Ring(Rank n, double bytes, const Link& link) {
  return 2.0 * (n - 1) * (link.latency + bytes / n * link.Beta());
}

double Tree(Rank n, const Link& link) {
  return 2.0 * Log2(n) * (link.latency + kBytes * link.Beta());
}

double ClosedForm(const std::string& kind, Rank n, const Link& link) {
  if (kind == "allreduce:ring") return Ring(n, kBytes, link);
  if (kind == "allreduce:halving-doubling") {
    return 2.0 * Log2(n) * link.latency + 2.0 * (n - 1) / n * kBytes * link.Beta();
  }
  if (kind == "allreduce:tree") return Tree(n, link);
  if (kind == "allreduce:recursive-doubling") {
    return Log2(n) * (link.latency + kBytes * link.Beta());
  }
  // 32 = 4 x 8 in both cases.
  if (kind == "allreduce:hierarchical:groups=4") {
    return Tree(8, link) + Ring(4, kBytes, link);
  }
  return Ring(8, kBytes, link) + Ring(4, kBytes / 8, link);  // "allreduce:torus:4x8"
}

void ExpectWithin(double tolerance, double measured, double expected) {
  EXPECT_NEAR(measured / expected, 1, tolerance) << measured << " ns for " << expected << " ns";
}

TEST(AllreduceTime, IsThatOfTheClosedForm) {
  for (const Link& link : kLinks) {
    for (const Rank n : {2, 7, 8, 32, 112}) {
      SCOPED_TRACE(::testing::Message() << n << " nodes, " << link.name);
      for (const char* kind : {"allreduce:ring", "allreduce:halving-doubling"}) {
        ExpectWithin(0.001, Allreduce(kind, n, link), ClosedForm(kind, n, link));
      }
    }
    for (const Rank n : {2, 4, 8, 64}) {
      ExpectWithin(0.001, Allreduce("allreduce:tree", n, link), Tree(n, link));
      ExpectWithin(0.001, Allreduce("allreduce:recursive-doubling", n, link),
                   ClosedForm("allreduce:recursive-doubling", n, link));
    }
    for (const char* kind : {"allreduce:hierarchical:groups=4", "allreduce:torus:4x8"}) {
      ExpectWithin(0.001, Allreduce(kind, 32, link), ClosedForm(kind, 32, link));
    }
  }
}

// With fewer ranks, some have nobody below them and send early.
TEST(AllreduceTime, OfATreeIsBetweenItsLongestPathAndTheClosedForm) {
  for (const Link& link : kLinks) {
    int longest = 0;
    for (Rank n = 2; n <= 35; ++n) {
      longest = std::max(longest, std::popcount(static_cast<unsigned>(n - 1)));
      const double measured = Allreduce("allreduce:tree", n, link);
      EXPECT_LE(measured, Tree(n, link) * 1.001) << n << " nodes, " << link.name;
      EXPECT_GE(measured, 2 * longest * (link.latency + kBytes * link.Beta()) * 0.999)
          << n << " nodes, " << link.name;
    }
  }
}

// Ranks that take part only through others cost two vectors more; besides, their vectors share
// interfaces with those of exchanges that have begun already.
TEST(AllreduceTime, OfRecursiveDoublingIsLongerWhereRanksAreNoPowerOfTwo) {
  for (const Link& link : kLinks) {
    const double vector = link.latency + kBytes * link.Beta();
    for (const Rank n : {3, 7, 33, 112}) {
      SCOPED_TRACE(::testing::Message() << n << " nodes, " << link.name);
      const double measured = Allreduce("allreduce:recursive-doubling", n, link);
      EXPECT_GE(measured, Log2(n) * vector * 0.999);
      EXPECT_LE(measured, 2 * (Log2(n) + 1) * vector * 1.001);
    }
  }
}

// A piece costs no latency while another one follows it, but ranks at the bottom of a tree have
// nothing to do at its end.
TEST(AllreduceTime, OfADoubleTreeIsThatOfItsBytesAndItsHeight) {
  for (const Link& link : kLinks) {
    for (const Rank n : {4, 8, 32, 112}) {
      SCOPED_TRACE(::testing::Message() << n << " nodes, " << link.name);
      for (const int pieces : {1, 8}) {
        const double measured =
            Allreduce(absl::StrCat("allreduce:double-tree:pieces=", pieces), n, link);
        const double piece = kBytes / (2 * pieces) * link.Beta();
        const int height = 2 * (Log2(n) + 1);
        EXPECT_LE(measured, 2.2 * (height * (link.latency + piece) + 2 * pieces * piece)) << pieces;
        EXPECT_GE(measured, 2 * (Log2(n) - 1) * (link.latency + piece)) << pieces;
        EXPECT_GE(measured, (2 * kBytes - 4 * piece) * link.Beta()) << pieces;
      }
    }
  }
}

// The credits of a sum travel while the one before goes on: no latency is added
// to rounds without any computation.
TEST(AllreduceTime, OfTheNextSumIsNoLonger) {
  for (const Link& link : kLinks) {
    for (const char* kind :
         {"allreduce:ring", "allreduce:halving-doubling", "allreduce:recursive-doubling",
          "allreduce:tree", "allreduce:hierarchical:groups=4", "allreduce:torus:4x8"}) {
      SCOPED_TRACE(::testing::Message() << kind << ", " << link.name);
      const double four = Simulate(kind, 32, link, 5, 0) - Simulate(kind, 32, link, 1, 0);
      ExpectWithin(0.001, four / 4, ClosedForm(kind, 32, link));
    }
    for (const Rank n : {2, 4, 8}) {
      for (const char* kind : {"allreduce:ring", "allreduce:halving-doubling", "allreduce:tree",
                               "allreduce:recursive-doubling"}) {
        SCOPED_TRACE(::testing::Message() << kind << ", " << n << " nodes, " << link.name);
        const double four = Simulate(kind, n, link, 5, 0) - Simulate(kind, n, link, 1, 0);
        ExpectWithin(0.001, four / 4, ClosedForm(kind, n, link));
      }
    }
  }
}

// With two buckets, the second half of the gradient is there after two thirds of
// its time and gone before the first half is: that alone is left to wait for.
TEST(BucketTimes, TravelWhileTheGradientIsComputed) {
  const Link& link = kLinks[2];
  const double half = Ring(8, kBytes / 2, link);
  const auto compute = static_cast<Nanoseconds>(3.5 * half);
  const double whole = Simulate("allreduce", 8, link, 1, compute);
  ExpectWithin(0.001, whole, static_cast<double>(compute) + Ring(8, kBytes, link));
  ExpectWithin(0.001, Simulate("allreduce:buckets=2", 8, link, 1, compute),
               static_cast<double>(compute) + half);
  // Where the network is slower than the gradient, it does not rest from the first
  // of many buckets on.
  const Link& slow = kLinks[0];
  const auto brief = static_cast<Nanoseconds>(Ring(8, kBytes, slow) / 3);
  const double first = static_cast<double>(brief) * EvenlyReadyAt(15, 16);
  ExpectWithin(0.001, Simulate("allreduce:buckets=16", 8, slow, 1, brief),
               first + Ring(8, kBytes, slow));
}

TEST(AllreduceTime, ReproducesTheCheckTable) {
  ExpectWithin(0.005, Allreduce("allreduce", 7, kLinks[0]), 2.96e9);
  ExpectWithin(0.005, Allreduce("allreduce", 7, kLinks[1]), 0.783e9);
  ExpectWithin(0.005, Allreduce("allreduce", 112, kLinks[0]), 3.46e9);
  ExpectWithin(0.005, Allreduce("allreduce", 112, kLinks[1]), 14.2e9);
  // The table's trees are of the closed form: this one is faster than its 0.436 s.
  ExpectWithin(0.005, Allreduce("allreduce:tree", 7, kLinks[1]), 0.308e9);
}

}  // namespace
}  // namespace grapevine::testing
