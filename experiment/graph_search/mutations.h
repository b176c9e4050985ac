// Small random changes of a schedule of weighted rounds.
//
// Thread-safety: a pure function, but for its generator.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MUTATIONS_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MUTATIONS_H_

#include <vector>

#include "base/ids.h"
#include "random/keyed_random.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {

// Returns the rounds with one change: an edge is added, dropped or gets another end, or, unless
// `fixed`, a round is dropped, comes once more or changes places with another. The weights are
// still to be fitted, and the edges may no longer join all nodes. n must be at least 2.
std::vector<WeightedRound> Mutated(Rank n, std::vector<WeightedRound> rounds, bool fixed,
                                   KeyedRandom* random);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MUTATIONS_H_
