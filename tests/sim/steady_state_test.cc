// Once as many flows as ever are under way, a network allocates nothing more.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "sim/network/network_plan.h"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// For the buffers of std::stable_sort and the like.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace grapevine {
namespace {

// Keeps the latest alarm of each flow, which is the one that counts.
class LatestAlarms final : public AlarmClock {
 public:
  explicit LatestAlarms(size_t flows) : alarms_(flows) {}

  struct Alarm {
    uint32_t version = 0;
    Nanoseconds when = std::numeric_limits<Nanoseconds>::max();
  };

  void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) override {
    alarms_[flow] = {version, when};
  }
  FlowId Earliest() const {
    FlowId earliest = 0;
    for (FlowId flow = 1; flow < alarms_.size(); ++flow) {
      if (alarms_[flow].when < alarms_[earliest].when) earliest = flow;
    }
    return earliest;
  }
  const Alarm& at(FlowId flow) const { return alarms_[flow]; }

 private:
  std::vector<Alarm> alarms_;
};

// Ring gossip in which no two messages begin or end together; a flow's slot is used
// again as soon as it has ended.
TEST(SteadyStateTest, NetworksAllocateNothing) {
  constexpr Rank kNodes = 64;
  constexpr FlowId kFlows = 2 * kNodes;
  const std::pair<const char*, const char*> cases[] = {{"switch", "nic"},
                                                       {"switch", "flow"},
                                                       {"racks:hosts=8:oversubscription=4", "flow"},
                                                       {"torus:8x8", "flow"}};
  for (const auto& [network, model] : cases) {
    const auto plan = MakeNetworkPlan({.network = network, .model = model, .nodes = kNodes});
    ASSERT_TRUE(plan.ok()) << plan.status();
    SCOPED_TRACE(plan->description());
    LatestAlarms clock(kFlows);
    const auto carrier = plan->Make(&clock);
    KeyedRandom random(1, Purpose::kTopology);
    const auto start = [&](FlowId flow, Nanoseconds now) {
      const auto from = static_cast<Rank>(flow / 2);
      carrier->Start(flow,
                     {.from = from,
                      .to = (from + (flow % 2 == 0 ? 1 : kNodes - 1)) % kNodes,
                      .bytes = 1000 + 1e6 * random.Unit()},
                     now);
    };
    for (FlowId flow = 0; flow < kFlows; ++flow) start(flow, 0);
    carrier->Settle(0);
    int64_t before = 0;
    for (int event = 0; event < 40'000; ++event) {
      if (event == 20'000) before = allocations;
      const FlowId flow = clock.Earliest();
      const Nanoseconds now = clock.at(flow).when;
      if (carrier->OnAlarm(flow, clock.at(flow).version, now)) start(flow, now);
      carrier->Settle(now);
    }
    EXPECT_EQ(allocations - before, 0);
  }
}

}  // namespace
}  // namespace grapevine
