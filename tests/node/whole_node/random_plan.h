// Plans of simulated runs, drawn from a seed.
//
// Pure functions.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_

#include <cstdint>

#include "tests/node/whole_node/run_plan.h"

namespace grapevine::testing {

// Any graph, algorithm, window, evaluation and latency; nothing goes wrong.
RunPlan HealthyPlan(uint64_t seed);
// Likewise, and things happen that a run must get over: pauses and partitions well below
// --peer-timeout, evaluations and gradients that take long.
RunPlan BumpyPlan(uint64_t seed);
// Likewise, and one thing happens that ends it.
RunPlan FatalPlan(uint64_t seed);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_
