// Who was lost in a run and who came in, for people.
//
// Pure, safe from any thread.
#ifndef GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_
#define GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_

#include <string>

#include "run/records/metrics.h"

namespace grapevine {

// "7 of 8 nodes at the end: without rank 3 from round 52 on; with rank 2 from round 90 on";
// of many changes the first ones, and how many more there were. Empty where nobody was lost.
std::string MembershipText(const Summary& summary);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_MEMBERSHIP_TEXT_H_
