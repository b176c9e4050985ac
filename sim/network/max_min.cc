#include "sim/network/max_min.h"

#include <algorithm>
#include <cstddef>

namespace grapevine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The common rate at which each link would be full: what its stopped flows leave,
// divided among the others; infinite for a link without others.
std::vector<double> Levels(std::span<const double> capacities, std::span<const MaxMinFlow> flows,
                           const std::vector<double>& rates, const std::vector<bool>& stopped) {
  std::vector<double> levels(capacities.begin(), capacities.end());
  std::vector<int> rising(capacities.size(), 0);
  for (size_t flow = 0; flow < flows.size(); ++flow) {
    for (const LinkId link : flows[flow].route) {
      if (stopped[flow]) {
        levels[link] -= rates[flow];
      } else {
        ++rising[link];
      }
    }
  }
  for (size_t link = 0; link < levels.size(); ++link) {
    levels[link] = rising[link] == 0 ? kInfinity : levels[link] / rising[link];
  }
  return levels;
}

double Limit(const MaxMinFlow& flow, const std::vector<double>& levels) {
  double limit = flow.max_rate;
  for (const LinkId link : flow.route) limit = std::min(limit, levels[link]);
  return limit;
}

}  // namespace

std::vector<double> MaxMinRates(std::span<const double> capacities,
                                std::span<const MaxMinFlow> flows) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> stopped(flows.size(), false);
  for (size_t left = flows.size(); left > 0;) {
    const std::vector<double> levels = Levels(capacities, flows, rates, stopped);
    std::vector<double> limits(flows.size(), kInfinity);
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      if (!stopped[flow]) limits[flow] = Limit(flows[flow], levels);
    }
    const double lowest = *std::ranges::min_element(limits);
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      if (stopped[flow] || limits[flow] > lowest) continue;
      rates[flow] = lowest;
      stopped[flow] = true;
      --left;
    }
  }
  return rates;
}

}  // namespace grapevine
