// Where the nodes of a run are, in a few words for its progress.
//
// Pure.
#ifndef GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_
#define GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_

#include <string>

#include "run/records/run_standing.h"

namespace grapevine {

// "rank 3 waits for 7, round 812, 4.10 s"; nothing where nobody has waited for more than a second,
// and for as long as two rounds take, `round_s` each (0: not known).
std::string WaitText(const RunStanding& standing, double round_s);

// "rank 3 at 812, rank 0 at 815": who is slowest and who is fastest; nothing where all are so close
// that it may only be who has spoken last.
std::string SpreadText(const RunStanding& standing, double round_s);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_STANDING_TEXT_H_
