// Where the nodes of a run are, in a few words for the progress of the run.
//
// Pure.
#ifndef GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_
#define GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_

#include <string>

#include "run/records/run_standing.h"

namespace grapevine {

// Returns "rank 3 waits for 7, round 812, 4.10 s"; empty unless a node has waited for at least a
// second and for as long as two rounds take, at `round_s` seconds each (0: not known).
std::string WaitText(const RunStanding& standing, double round_s);

// Returns the slowest and the fastest node: "rank 3 at 812, rank 0 at 815"; empty if the two are so
// close that only the age of their last messages may differ.
std::string SpreadText(const RunStanding& standing, double round_s);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_
