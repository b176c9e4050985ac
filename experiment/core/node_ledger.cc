#include "experiment/core/node_ledger.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/units.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

double InSeconds(nanoseconds time) {
  return SecondsOfNanoseconds(static_cast<double>(time.count()));
}

// Without the empty ones at the end.
std::vector<int64_t> Counts(const Staleness& staleness) {
  std::vector<int64_t> counts(staleness.buckets().begin(), staleness.buckets().end());
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  return counts;
}

}  // namespace

void NodeLedger::Add(nanoseconds time, NodeWork* work) {
  work->time = time - std::exchange(time_, time);
  gradients_ += work->gradients;
  gradient_ += work->gradient;
}

void NodeLedger::Describe(const NodeWork& work, const Staleness& staleness,
                          NodeMetrics* line) const {
  line->gradients_total = gradients_;
  line->idle_s = InSeconds(std::max(nanoseconds(0), work.time - work.gradient));
  if (staleness.gradients() == 0) return;
  line->staleness_mean = staleness.mean();
  line->staleness_max = staleness.greatest();
  line->staleness = Counts(staleness);
}

NodeTotals NodeLedger::totals(const Staleness& staleness) const {
  return {.gradients = gradients_,
          .gradient_s = InSeconds(gradient_),
          .time_s = InSeconds(time_),
          .applied = staleness.gradients(),
          .staleness_mean = staleness.mean(),
          .staleness_max = staleness.greatest()};
}

}  // namespace grapevine
