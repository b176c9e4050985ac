// How a launch ended, from how its children did.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_LAUNCH_LAUNCH_OUTCOME_H_
#define GRAPEVINE_NODE_LAUNCH_LAUNCH_OUTCOME_H_

#include <sys/types.h>

#include <span>

#include "absl/status/status.h"
#include "base/ids.h"

namespace grapevine {

struct ChildEnd {
  Rank rank;
  pid_t pid;
  int wait_status;  // waitpid's
  bool signalled;   // the launcher had told it to end
};

// OK when all ended with 0; kInterrupted or kTerminated when they did not and
// the user's signal (0: none) came before. Otherwise names the cause: a child
// that was killed explains more than the others, which then lost it; of the
// rest, the first in order. An exit code that is not in the list of failures (of a
// sanitizer, of another program) is kOther.
absl::Status LaunchOutcome(std::span<const ChildEnd> ends, int interrupted_by);

// The outcome of a launch that the user's signal ended; names those that had to be
// killed.
absl::Status Interrupted(std::span<const ChildEnd> ends, int signal);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCH_OUTCOME_H_
