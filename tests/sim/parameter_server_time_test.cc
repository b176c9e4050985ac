// The synchronous parameter server on an empty network takes what its closed
// form says: 2 (alpha + max(n/S, 1) M beta) beside the gradient, for n workers
// with S servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

struct ServerLink {
  const char* name;
  double bandwidth;  // bytes per nanosecond
  Nanoseconds latency;
};

constexpr ServerLink kSlowLink{"5 Mbit/s, 0.15 ms", 5e6 / 8e9, 150'000};
constexpr ServerLink kFarLink{"1 Gbit/s, 64 ms", 1e9 / 8e9, 64'000'000};

double SecondsPerRound(Rank workers, Rank servers, const ServerLink& link,
                       Nanoseconds gradient = 0) {
  return TimedRun{.algorithm = "ps:servers=" + std::to_string(servers),
                  .nodes = workers + servers,
                  .network = {.bandwidth = link.bandwidth, .latency = link.latency},
                  .compute = std::make_shared<FixedComputeTime>(gradient)}
      .SecondsPerRound();
}

double ClosedForm(Rank workers, Rank servers, const ServerLink& link) {
  const double replica = 1.08e6 / link.bandwidth;
  const double busiest = std::max(static_cast<double>(workers) / servers, 1.0);
  return 2e-9 * (static_cast<double>(link.latency) + busiest * replica);
}

TEST(ParameterServerTime, IsThatOfTheClosedForm) {
  for (const ServerLink& link : {kSlowLink, kFarLink}) {
    for (const Rank servers : {1, 2, 3, 8}) {
      for (const Rank workers : {1, 2, 7, 12}) {
        SCOPED_TRACE(::testing::Message()
                     << workers << " workers, " << servers << " servers, " << link.name);
        EXPECT_NEAR(SecondsPerRound(workers, servers, link) / ClosedForm(workers, servers, link), 1,
                    1e-3);
      }
    }
  }
}

// Credits that were late would add a latency to each round.
TEST(ParameterServerTime, IsAddedToThatOfTheGradient) {
  const Nanoseconds gradient = 30'000'000;
  EXPECT_NEAR(SecondsPerRound(7, 2, kFarLink, gradient),
              ClosedForm(7, 2, kFarLink) + 1e-9 * static_cast<double>(gradient), 1e-4);
}

// The check table of Lian et al.'s setting (arXiv:1705.09056, section 5).
TEST(ParameterServerTime, IsThatOfTheCheckTable) {
  EXPECT_NEAR(SecondsPerRound(7, 1, kSlowLink), 24.19, 0.01);
  EXPECT_NEAR(SecondsPerRound(7, 1, kFarLink), 0.249, 0.0005);
  EXPECT_NEAR(SecondsPerRound(112, 1, kSlowLink), 387, 0.5);
  EXPECT_NEAR(SecondsPerRound(112, 1, kFarLink), 2.06, 0.005);
}

}  // namespace
}  // namespace grapevine::testing
