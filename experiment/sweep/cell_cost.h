// How long a cell of a sweep takes to simulate beside the others.
#ifndef GRAPEVINE_EXPERIMENT_SWEEP_CELL_COST_H_
#define GRAPEVINE_EXPERIMENT_SWEEP_CELL_COST_H_

#include "run/config/config.pb.h"

namespace grapevine {

// Above 0, in proportion to the work of all its rounds: messages, and gradients that are
// computed. Of cells of one sweep, which have model and data in common; a cell that cannot
// be costs next to nothing. Pure.
double CellCost(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_CELL_COST_H_
