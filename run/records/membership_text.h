// The nodes that a run lost and those that joined it, as text for people.
//
// Pure, safe from any thread.
#ifndef GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_
#define GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_

#include <string>

#include "run/records/metrics.h"

namespace grapevine {

// Returns "7 of 8 nodes at the end: without rank 3 from round 52 on; with rank 2 from round 90 on".
// If there are many changes, lists the first ones and the number of the others. Empty if no node
// was lost.
std::string MembershipText(const Summary& summary);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_
