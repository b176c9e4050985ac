// Random links and flows over them, and the conditions that their fair rates must meet.
#ifndef GRAPEVINE_TESTS_SIM_RANDOM_FLOWS_H_
#define GRAPEVINE_TESTS_SIM_RANDOM_FLOWS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "sim/network/max_min.h"

namespace grapevine {

// A function of the seed. Thread-compatible.
class RandomFlows {
 public:
  explicit RandomFlows(uint64_t seed) : random_(seed, Purpose::kTopology) {
    const auto links = 1 + random_.Below(30);
    // Equal capacities produce ties, unequal ones chains of bottlenecks.
    const bool equal = random_.Below(2) == 0;
    for (uint64_t i = 0; i < links; ++i) {
      capacities_.push_back(equal ? 1 : 0.1 + 10 * random_.Unit());
    }
    const auto flows = 1 + random_.Below(60);
    for (uint64_t i = 0; i < flows; ++i) routes_.push_back(NewRoute());
    for (const std::vector<LinkId>& route : routes_) flows_.push_back({route, NewLimit()});
  }

  const std::vector<double>& capacities() const { return capacities_; }
  const std::vector<MaxMinFlow>& flows() const { return flows_; }
  KeyedRandom& random() { return random_; }

  // Up to four different links.
  std::vector<LinkId> NewRoute() {
    std::vector<LinkId> links(capacities_.size());
    for (size_t i = 0; i < links.size(); ++i) links[i] = static_cast<LinkId>(i);
    random_.Shuffle(std::span(links));
    links.resize(1 + random_.Below(std::min<uint64_t>(4, links.size())));
    return links;
  }

  // Usually none.
  double NewLimit() {
    return random_.Below(4) == 0 ? 0.01 + random_.Unit() : std::numeric_limits<double>::infinity();
  }

 private:
  KeyedRandom random_;
  std::vector<double> capacities_;
  std::vector<std::vector<LinkId>> routes_;
  std::vector<MaxMinFlow> flows_;
};

// No link carries more than its capacity, and every flow has a bottleneck: its own limit, or a
// full link on which no flow is faster.
inline void ExpectMaxMinFair(const std::vector<double>& capacities,
                             const std::vector<MaxMinFlow>& flows,
                             const std::vector<double>& rates) {
  constexpr double kRelative = 1e-9;
  std::vector<double> load(capacities.size(), 0), fastest(capacities.size(), 0);
  for (size_t i = 0; i < flows.size(); ++i) {
    EXPECT_GT(rates[i], 0);
    EXPECT_LE(rates[i], flows[i].max_rate);
    for (const LinkId link : flows[i].route) {
      load[link] += rates[i];
      fastest[link] = std::max(fastest[link], rates[i]);
    }
  }
  for (size_t link = 0; link < load.size(); ++link) {
    EXPECT_LE(load[link], capacities[link] * (1 + kRelative)) << "link " << link;
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    const bool at_limit = rates[i] == flows[i].max_rate;
    const bool held_back = std::ranges::any_of(flows[i].route, [&](LinkId link) {
      return load[link] >= capacities[link] * (1 - kRelative) &&
             rates[i] >= fastest[link] * (1 - kRelative);
    });
    EXPECT_TRUE(at_limit || held_back) << "nothing holds flow " << i << " back";
  }
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_SIM_RANDOM_FLOWS_H_
