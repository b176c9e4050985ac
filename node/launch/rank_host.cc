#include "node/launch/rank_host.h"

#include <algorithm>

namespace grapevine {

void AwaitAny(std::vector<pollfd>* polled, RankHost::Time due) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  constexpr milliseconds kLongest{1000};
  milliseconds timeout = kLongest;
  if (due != RankHost::kNever) {
    const auto left = std::chrono::ceil<milliseconds>(due - steady_clock::now());
    timeout = std::clamp(left, milliseconds(0), kLongest);
  }
  (void)poll(polled->data(), polled->size(), static_cast<int>(timeout.count()));
}

}  // namespace grapevine
