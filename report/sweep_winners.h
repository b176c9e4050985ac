// Which of the things that were compared in a sweep wins, in words.
#ifndef GRAPEVINE_REPORT_SWEEP_WINNERS_H_
#define GRAPEVINE_REPORT_SWEEP_WINNERS_H_

#include <string>
#include <vector>

#include "report/sweep_table.h"

namespace grapevine {

// A line for each of the conditions under which choices were compared (networks, numbers of nodes,
// data), in their order: the choice (topology, algorithm, learning rate ...) that was there first,
// at the target accuracy where there was one, else at the end, and by how much; and, where it was
// measured, the one with the best accuracy. Cells that differ only in the seed are averaged; those
// that failed, or one of whose seeds did, are left out. Empty where nothing was compared.
std::string SweepWinners(const std::vector<SweepRow>& rows);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_WINNERS_H_
