// How long runs take in which nobody waits for a slow node, where it is some nodes' links that are
// slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

constexpr Rank kLinkedWorkers = 8;

// The links of the ranks below `slow` carry no more than `rate`, in bytes per nanosecond.
class SlowLinks final : public MessageEffects {
 public:
  SlowLinks(Rank slow, double rate) : slow_(slow), rate_(rate) {}
  MessageEffect Of(const Transfer& transfer) const override {
    MessageEffect effect{.bytes = static_cast<double>(transfer.bytes)};
    if (std::min(transfer.from, transfer.to) < slow_) effect.max_rate = rate_;
    return effect;
  }

 private:
  const Rank slow_;
  const double rate_;
};

// When the last of the workers from rank 2 on has done its part of the budget.
Nanoseconds OthersEnd(const std::string& algorithm, Rank slow) {
  const SlowLinks effects(slow, 0.00125);
  const TimedRun run{.algorithm = algorithm,
                     .nodes = kLinkedWorkers + 1,
                     .rounds = 400,
                     .network = {.bandwidth = 1.25, .latency = 20'000},
                     .compute = std::make_shared<FixedComputeTime>(kGradient),
                     .effects = &effects};
  const std::vector<Nanoseconds> ended = run.Ended();
  return *std::max_element(ended.begin() + 2, ended.begin() + kLinkedWorkers);
}

// Each of the slow ones' exchanges takes 1.7 s, a hundred times as long as the others'. Until a
// server has learnt who they are, they may hold it up.
TEST(UnequalLinks, WorkersWhoseLinksAreSlowDoNotHoldUpTheOthersAtAServer) {
  constexpr Nanoseconds kLearning = 10'000'000'000;
  for (const char* algorithm : {"ps:async", "downpour:window=2", "easgd:async"}) {
    SCOPED_TRACE(algorithm);
    const Nanoseconds alone = OthersEnd(algorithm, 0);
    EXPECT_LT(OthersEnd(algorithm, 1), 2 * alone + kLearning);
    EXPECT_LT(OthersEnd(algorithm, 2), 2 * alone + kLearning);
  }
}

// Only those who draw a neighbour with a slow link wait for it, until that average is over.
TEST(UnequalLinks, CostAdpsgdLessThanThoseWhoWaitForAll) {
  const auto time = [](const char* algorithm, Rank slow) {
    const SlowLinks effects(slow, 0.0125);
    const TimedRun run{.algorithm = algorithm,
                       .nodes = kLinkedWorkers,
                       .rounds = 200,
                       .network = {.bandwidth = 0.125, .latency = 20'000},
                       .compute = std::make_shared<FixedComputeTime>(kGradient),
                       .effects = &effects};
    return static_cast<double>(run.Last());
  };
  EXPECT_LT(time("adpsgd", 2), 2 * time("adpsgd", 0));
  EXPECT_GT(time("dpsgd", 2), 4 * time("dpsgd", 0));
}

}  // namespace
}  // namespace grapevine::testing
