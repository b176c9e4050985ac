#include "node/transport/edge/silence_watch.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {

std::string SilenceWatch::Describe() const {
  const std::string ago =
      absl::StrFormat("last heard %.1f s ago", static_cast<double>(quiet_ms_.load()) / 1000);
  const Round round = round_.load();
  return round == kNoRound ? ago : absl::StrCat(ago, " in round ", round);
}

absl::Status SilentPeer(Rank peer, const std::string& address, const SilenceWatch& watch,
                        std::chrono::milliseconds timeout) {
  return absl::DeadlineExceededError(
      absl::StrFormat("rank %d (%s) is silent: %s; --peer-timeout is %.1f s", peer, address,
                      watch.Describe(), static_cast<double>(timeout.count()) / 1000));
}

}  // namespace grapevine
