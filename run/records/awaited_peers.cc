#include "run/records/awaited_peers.h"

#include <algorithm>
#include <tuple>

namespace grapevine {

void AwaitedPeers::Add(Rank peer, std::chrono::nanoseconds time) {
  if (time.count() <= 0) return;
  auto slot = std::ranges::find(waits_, peer, &Wait::peer);
  if (slot == waits_.end()) {
    slot = waits_.size() < most_ ? waits_.insert(waits_.end(), Wait())
                                 : std::ranges::min_element(waits_, {}, &Wait::time);
    slot->peer = peer;
  }
  slot->time = std::min(slot->time, std::chrono::nanoseconds::max() - time) + time;
}

std::vector<AwaitedPeers::Wait> AwaitedPeers::Longest() const {
  std::vector<Wait> waits = waits_;
  std::ranges::sort(waits, {}, [](const Wait& wait) { return std::tuple(-wait.time, wait.peer); });
  return waits;
}

}  // namespace grapevine
