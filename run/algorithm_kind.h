// What the name of an algorithm says about its experiment, before it is made.
//
// Pure functions; safe from any thread.
#ifndef GRAPEVINE_RUN_ALGORITHM_KIND_H_
#define GRAPEVINE_RUN_ALGORITHM_KIND_H_

#include "run/config.pb.h"

namespace grapevine {

// Whether all nodes average exactly in every round, by messages that go everywhere
// (allreduce, a parameter server), so that the topology plays no part.
bool IsCentralized(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_ALGORITHM_KIND_H_
