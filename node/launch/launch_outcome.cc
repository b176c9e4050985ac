#include "node/launch/launch_outcome.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/failure.h"

namespace grapevine {
namespace {

// The lower, the more it explains.
int Weight(const ChildEnd& end) {
  if (end.wait_status == 0) return 5;
  if (WIFSIGNALED(end.wait_status)) return end.signalled ? 2 : 0;
  if (end.signalled) return 4;
  return WEXITSTATUS(end.wait_status) == static_cast<int>(Failure::kPeerLost) ? 3 : 1;
}

std::string SignalText(int signal) {
  const char* description = sigdescr_np(signal);
  return absl::StrCat("signal ", signal, description == nullptr ? "" : ", ",
                      description == nullptr ? "" : description);
}

const char* Remedy(int signal) {
  return signal == SIGKILL ? " (by hand, or by the kernel because memory ran out: see its log)"
                           : "";
}

}  // namespace

absl::Status Interrupted(std::span<const ChildEnd> ends, int signal) {
  std::vector<Rank> killed;
  for (const ChildEnd& end : ends) {
    if (end.signalled && WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL) {
      killed.push_back(end.rank);
    }
  }
  std::string text = absl::StrCat("ended by ", SignalText(signal));
  if (!killed.empty()) {
    std::ranges::sort(killed);
    absl::StrAppend(&text, killed.size() == 1 ? "; rank " : "; ranks ", absl::StrJoin(killed, ", "),
                    " had to be killed");
  }
  return WithFailure(absl::CancelledError(text),
                     signal == SIGINT ? Failure::kInterrupted : Failure::kTerminated);
}

absl::Status LaunchOutcome(std::span<const ChildEnd> ends, int interrupted_by) {
  const auto cause =
      std::min_element(ends.begin(), ends.end(),
                       [](const ChildEnd& a, const ChildEnd& b) { return Weight(a) < Weight(b); });
  if (cause == ends.end() || cause->wait_status == 0) return absl::OkStatus();
  if (interrupted_by != 0) return Interrupted(ends, interrupted_by);
  const std::string who = absl::StrCat("rank ", cause->rank, " (process ", cause->pid, ")");
  if (WIFSIGNALED(cause->wait_status) && cause->signalled) {
    return WithFailure(
        absl::AbortedError(absl::StrCat(who,
                                        " did not end when the others did, and was killed; it "
                                        "was stopped, or it hangs")),
        Failure::kPeerLost);
  }
  if (WIFSIGNALED(cause->wait_status)) {
    return WithFailure(absl::AbortedError(absl::StrCat(who, " was killed by ",
                                                       SignalText(WTERMSIG(cause->wait_status)),
                                                       Remedy(WTERMSIG(cause->wait_status)))),
                       Failure::kPeerLost);
  }
  const int code = WEXITSTATUS(cause->wait_status);
  return WithFailure(absl::AbortedError(absl::StrCat(who, " ended with exit code ", code,
                                                     "; its last lines say why")),
                     FailureFromNumber(code));
}

}  // namespace grapevine
