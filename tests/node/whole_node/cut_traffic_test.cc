// Random traffic over connections that break at random: what the contract of transports says holds
// whatever is lost with them.
//
// TEST_SEED=17 plays one seed, TEST_SEEDS=10000 that many.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "node/transport/edge/edge_identity.h"
#include "random/keyed_random.h"
#include "tests/node/transport/random_traffic.h"
#include "tests/node/transport/transport_harness.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/simulated_network.h"
#include "tests/node/whole_node/simulated_transport.h"
#include "tests/node/whole_node/virtual_time.h"
#include "tests/testing/sightings.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 3;
// Of messages of 1.2 MB.
constexpr int64_t kChunk = 50'000;
// Traffic that still goes on after so much virtual time does not end.
constexpr std::chrono::hours kLongest{1};
// Longer than all the time that a pair, whose connections may break before anything has come over
// them, is without one.
constexpr std::chrono::milliseconds kPatience{kLongest};

// Production's links and conversations over simulated connections, one of which breaks every so
// often. Its two ends hear of that at different times, up to half a second apart: one may call
// again before the other knows.
class CutNetwork final : public TransportNetwork {
 public:
  CutNetwork(uint64_t seed, uint64_t steps_between_cuts)
      : TransportNetwork(kNodes),
        steps_between_cuts_(steps_between_cuts),
        random_(seed, Purpose::kTopology),
        network_({.latency = std::chrono::milliseconds(1),
                  .jitter = std::chrono::milliseconds(seed % 2 == 0 ? 2 : 500)},
                 seed, &time_) {
    for (Rank rank = 0; rank < kNodes; ++rank) {
      processes_.push_back(std::make_unique<Process>(rank, &time_));
      by_rank_.push_back(processes_.back().get());
    }
    for (Rank rank = 0; rank < kNodes; ++rank) {
      transports_.push_back(std::make_unique<SimulatedTransport>(
          EdgeIdentity{.rank = rank,
                       .world_size = kNodes,
                       .call = {.process = static_cast<uint64_t>(rank) + 1}},
          SimulatedTransportOptions{
              .peer_timeout = kPatience, .chunk_bytes = kChunk, .round = [] { return Round{0}; }},
          &network_, &by_rank_, &sink(rank)));
      transports_.back()->Join("run");
    }
  }
  ~CutNetwork() override { transports_.clear(); }

  Transport& transport(Rank rank) override { return *transports_[rank]; }

  bool Advance() override {
    if (random_.Below(steps_between_cuts_) == 0) {
      const auto a = static_cast<Rank>(random_.Below(kNodes));
      network_.Reset(a, (a + 1) % kNodes);
      ++cuts_;
    }
    return time_.now() - SteadyTime() < kLongest && time_.Step();
  }

  int cuts() const { return cuts_; }

 private:
  const uint64_t steps_between_cuts_;
  KeyedRandom random_;
  VirtualTime time_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<Process*> by_rank_;
  std::vector<std::unique_ptr<SimulatedTransport>> transports_;
  int cuts_ = 0;
};

TEST(CutTraffic, EveryPostAndEverySendEndsOnceWhateverBreaks) {
  PlaySeeds(12, 1, [&](uint64_t seed, Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    CutNetwork network(seed, 20 << seed % 5);
    RandomTraffic traffic(&network, kNodes, seed);
    ASSERT_EQ(traffic.Run(150), "");
    seen.Count("cuts", network.cuts());
    seen.Count("taken", traffic.taken());
    seen.Count("declined", traffic.declined());
    seen.Count("lost", traffic.lost());
  });
}

}  // namespace
}  // namespace grapevine::testing
