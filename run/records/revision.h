// The version of this build.
#ifndef GRAPEVINE_RUN_RECORDS_REVISION_H_
#define GRAPEVINE_RUN_RECORDS_REVISION_H_

#include <string>

namespace grapevine {

// The release, from the file VERSION: "0.1.0".
std::string Version();

// The git revision of the source tree that this was built from, with "-dirty" if tracked files
// differed; "unknown" outside a git checkout. Built in a workspace of somebody's own
// (docs/extending.md), that one's follows: "0123456789ab+ba9876543210-dirty".
std::string Revision();

// The day of that revision, in UTC: "2024-02-29"; empty outside a git checkout.
std::string RevisionDate();

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_REVISION_H_
