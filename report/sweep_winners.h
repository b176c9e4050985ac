// The winners among the choices that a sweep compares, in words.
#ifndef GRAPEVINE_REPORT_SWEEP_WINNERS_H_
#define GRAPEVINE_REPORT_SWEEP_WINNERS_H_

#include <string>
#include <vector>

#include "report/sweep_table.h"

namespace grapevine {

// Returns a line for each of the conditions under which choices were compared (networks, numbers of
// nodes, data), in their order: the choice (topology, algorithm, learning rate ...) that came first
// to the target accuracy, or to the end if the sweep has no target, and by how much; and, where
// accuracy was measured, the choice with the best accuracy. Averages cells that differ only in the
// seed; leaves out cells that failed, or one of whose seeds did. Empty if nothing was compared.
std::string SweepWinners(const std::vector<SweepRow>& rows);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_WINNERS_H_
