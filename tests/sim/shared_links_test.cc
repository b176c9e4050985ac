// Flows that come and go have the rates that a full solution gives them, and what
// does not concern a change is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "random/keyed_random.h"
#include "sim/network/max_min.h"
#include "tests/sim/random_flows.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::vector<Link> Links(const std::vector<double>& capacities) {
  std::vector<Link> links;
  for (double capacity : capacities) links.push_back({.capacity = capacity});
  return links;
}

// The flows that are there, beside a SharedLinks that has the same.
class Beside {
 public:
  explicit Beside(const std::vector<double>& capacities)
      : capacities_(capacities), shared_(Links(capacities)) {}

  void Add(FlowId id, std::vector<LinkId> route, double limit) {
    shared_.Add(id, route, limit);
    if (id >= flows_.size()) flows_.resize(id + 1);
    flows_[id] = {std::move(route), limit, true};
  }
  void Remove(FlowId id) {
    shared_.Remove(id);
    flows_[id].there = false;
  }
  bool there(FlowId id) const { return id < flows_.size() && flows_[id].there; }
  std::vector<FlowId> Solve() {
    const std::span<const FlowId> changed = shared_.Solve();
    return {changed.begin(), changed.end()};
  }
  const SharedLinks& shared() const { return shared_; }

  void ExpectFullSolution() const {
    std::vector<MaxMinFlow> flows;
    std::vector<FlowId> ids;
    for (FlowId id = 0; id < flows_.size(); ++id) {
      if (!flows_[id].there) continue;
      flows.push_back({flows_[id].route, flows_[id].limit});
      ids.push_back(id);
    }
    const std::vector<double> expected = MaxMinRates(capacities_, flows);
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_NEAR(shared_.rate(ids[i]), expected[i], 1e-9 * expected[i]) << "flow " << ids[i];
    }
  }

 private:
  struct Known {
    std::vector<LinkId> route;
    double limit = 0;
    bool there = false;
  };
  std::vector<double> capacities_;
  SharedLinks shared_;
  std::vector<Known> flows_;
};

TEST(SharedLinksTest, EqualFlowsDivideALink) {
  Beside beside({6});
  for (FlowId id = 0; id < 3; ++id) {
    beside.Add(id, {0}, kUnlimited);
    beside.Solve();
    for (FlowId other = 0; other <= id; ++other) {
      EXPECT_EQ(beside.shared().rate(other), 6.0 / (id + 1));
    }
  }
  beside.Remove(1);
  EXPECT_THAT(beside.Solve(), UnorderedElementsAre(0, 2));
  EXPECT_EQ(beside.shared().rate(2), 3);
}

TEST(SharedLinksTest, AFlowThatCameAndWentWithinAMomentChangesNothing) {
  Beside beside({6, 4});
  beside.Add(0, {0}, kUnlimited);
  beside.Solve();
  beside.Add(1, {0, 1}, kUnlimited);
  beside.Remove(1);
  EXPECT_THAT(beside.Solve(), IsEmpty());
  // The slot is used again.
  beside.Add(1, {1}, 0.5);
  EXPECT_THAT(beside.Solve(), ElementsAre(1));
  EXPECT_EQ(beside.shared().rate(1), 0.5);
}

TEST(SharedLinksTest, AReplacedFlowLeavesTheOthersAlone) {
  Beside beside({6});
  for (FlowId id = 0; id < 3; ++id) beside.Add(id, {0}, kUnlimited);
  beside.Solve();
  beside.Remove(0);
  beside.Add(3, {0}, kUnlimited);
  EXPECT_THAT(beside.Solve(), ElementsAre(3));
  EXPECT_EQ(beside.shared().rate(3), 2);
}

TEST(SharedLinksTest, WithoutLinksAFlowHasItsOwnLimit) {
  Beside beside({1});
  beside.Add(0, {}, 10);
  EXPECT_THAT(beside.Solve(), ElementsAre(0));
  EXPECT_EQ(beside.shared().rate(0), 10);
}

TEST(SharedLinksTest, RandomArrivalsAndDeparturesGiveTheFullSolution) {
  for (const uint64_t seed : testing::Seeds(150)) {
    SCOPED_TRACE(seed);
    RandomFlows random(seed);
    Beside beside(random.capacities());
    const auto slots = 1 + random.random().Below(60);
    for (int step = 0; step < 60 && !::testing::Test::HasFailure(); ++step) {
      // Single events and batches; what changed must be said.
      const auto batch = random.random().Below(2) == 0 ? 1 : 1 + random.random().Below(20);
      std::vector<double> before(slots, -1);
      for (FlowId id = 0; id < slots; ++id) {
        if (beside.there(id)) before[id] = beside.shared().rate(id);
      }
      for (uint64_t i = 0; i < batch; ++i) {
        const auto id = static_cast<FlowId>(random.random().Below(slots));
        before[id] = -1;
        if (beside.there(id)) {
          beside.Remove(id);
        } else {
          beside.Add(id, random.NewRoute(), random.NewLimit());
        }
      }
      const std::vector<FlowId> changed = beside.Solve();
      const std::set<FlowId> said(changed.begin(), changed.end());
      EXPECT_EQ(said.size(), changed.size());
      for (FlowId id = 0; id < slots; ++id) {
        if (!beside.there(id)) {
          EXPECT_FALSE(said.contains(id));
        } else if (beside.shared().rate(id) != before[id]) {
          EXPECT_TRUE(said.contains(id));
        }
      }
      beside.ExpectFullSolution();
    }
  }
}

TEST(SharedLinksTest, AChangeRunsThroughAChainOfLinks) {
  // Each link is a little narrower than twice its neighbour's share, so that a new
  // flow at one end moves every rate to the other end.
  constexpr int kLinks = 400;
  std::vector<double> capacities;
  for (int i = 0; i < kLinks; ++i) capacities.push_back(1 + 0.001 * i);
  Beside beside(capacities);
  for (FlowId id = 0; id + 1 < kLinks; ++id) beside.Add(id, {id, id + 1}, kUnlimited);
  beside.Solve();
  beside.ExpectFullSolution();
  const int64_t before = beside.shared().filled();
  beside.Add(kLinks, {0}, kUnlimited);
  beside.Solve();
  beside.ExpectFullSolution();
  beside.Remove(kLinks);
  beside.Solve();
  beside.ExpectFullSolution();
  EXPECT_LT(beside.shared().filled() - before, 20 * kLinks);
}

TEST(SharedLinksTest, WorkDoesNotGrowWithWhatIsFarAway) {
  // A ring of hosts on a switch: egress 2i, ingress 2i+1, two flows from each.
  for (const int hosts : {100, 4000}) {
    Beside beside(std::vector<double>(2 * hosts, 1));
    const auto route = [&](int host, int side) {
      const int to = (host + (side == 0 ? 1 : hosts - 1)) % hosts;
      return std::vector<LinkId>{static_cast<LinkId>(2 * host), static_cast<LinkId>(2 * to + 1)};
    };
    for (int flow = 0; flow < 2 * hosts; ++flow) {
      beside.Add(flow, route(flow / 2, flow % 2), kUnlimited);
    }
    EXPECT_EQ(beside.Solve().size(), 2 * hosts);
    const int64_t before = beside.shared().filled();
    constexpr int kSteps = 500;
    KeyedRandom random(1, Purpose::kTopology);
    for (int step = 0; step < kSteps; ++step) {
      const auto flow = static_cast<FlowId>(random.Below(2 * hosts));
      if (beside.there(flow)) {
        beside.Remove(flow);
      } else {
        beside.Add(flow, route(flow / 2, flow % 2), kUnlimited);
      }
      EXPECT_LE(beside.Solve().size(), 3);
    }
    EXPECT_LE(beside.shared().filled() - before, 6 * kSteps);
    beside.ExpectFullSolution();
  }
}

}  // namespace
}  // namespace grapevine
