// Plans of simulated runs, drawn from a seed.
//
// Pure functions.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_

#include <cstdint>
#include <vector>

#include "tests/node/whole_node/run_plan.h"

namespace grapevine::testing {

// Any graph, algorithm, window, evaluation and latency; nothing goes wrong.
RunPlan HealthyPlan(uint64_t seed);
// The same with faults that a run must survive: pauses and partitions well below --peer-timeout,
// long evaluations and gradients.
RunPlan BumpyPlan(uint64_t seed);
// The same with one fault that ends the run.
RunPlan FatalPlan(uint64_t seed);
// The same whose nodes go on without those that are lost; and what befalls up to all but rank 0,
// each once, at times since all have begun.
RunPlan MortalPlan(uint64_t seed);
std::vector<Fault> Deaths(const RunPlan& plan);
// The same of a run with a store: rank 0 dies, too, and at least one other is spared.
std::vector<Fault> DeathsOfAny(const RunPlan& plan);
// One that is cut off from two others or more, but not from rank 0, all at about the same time and
// for good; of a run of four nodes at least.
std::vector<Fault> BadNetwork(const RunPlan& plan);
// All nodes stand still for longer than --peer-timeout, as when their hosts are frozen one after
// the other, and go on again so; at times since all have begun.
std::vector<Fault> Standstill(const RunPlan& plan);
// Several times, the store is away from one node or from all, for up to `longest`: at any time, or
// just when nodes ask it because of one of `deaths`.
std::vector<Fault> StoreTroubles(const RunPlan& plan, std::chrono::nanoseconds longest,
                                 const std::vector<Fault>& deaths = {});
// Some nodes lose the others, and they or the others lose the store, too, each for any time. In a
// quarter of the plans rank 0 dies, and some stand still while they look for its successor.
std::vector<Fault> SplitNetwork(const RunPlan& plan);
// Processes that are killed, of all ranks but one, again and again; `lasts` is how long it takes
// until another one comes in its place.
std::vector<Fault> Returns(const RunPlan& plan);
// Connections to rank 0 of those who are spared, which break for less than --peer-timeout.
std::vector<Fault> BrokenControl(const RunPlan& plan, const std::vector<Fault>& deaths);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_RANDOM_PLAN_H_
