// The version of this build.
#ifndef GRAPEVINE_RUN_RECORDS_REVISION_H_
#define GRAPEVINE_RUN_RECORDS_REVISION_H_

#include <string>

namespace grapevine {

// Returns the release, from the file VERSION: "0.1.0".
std::string Version();

// Returns the git revision of the source tree that this program was built from, with "-dirty" if
// tracked files differed; "unknown" outside a git checkout. If it was built in a user's own
// workspace (docs/extending.md), the revision of that workspace follows:
// "0123456789ab+ba9876543210-dirty".
std::string Revision();

// Returns the day of the git revision, in UTC: "2024-02-29"; empty outside a git checkout.
std::string RevisionDate();

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_REVISION_H_
