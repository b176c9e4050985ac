// Finds out whether the others still follow a coordinator that stood still for about as long as
// they wait for it. If they stood still, too, they follow it, and the run goes on. If not, they
// have ended or gone on without it: that is no failure of theirs, and the coordinator must not go
// on alone.
//
// Until this is known, no node is judged: processes that are gone are kept for later (Tenure).
//
// Thread-compatible; without I/O.
#ifndef GRAPEVINE_NODE_CONTROL_AWAKENING_H_
#define GRAPEVINE_NODE_CONTROL_AWAKENING_H_

#include <chrono>
#include <cstddef>
#include <string>

#include "node/control/control_protocol.h"

namespace grapevine {

class Awakening {
 public:
  enum class Finding { kOpen, kFollowed, kDeserted };

  struct Options {
    std::chrono::nanoseconds stood_still;
    // How long the others wait for this node.
    std::chrono::milliseconds peer_timeout;
    // The number of members at that time, without this node.
    size_t others;
    // Whether the run goes on with fewer members.
    bool resilient;
  };

  // Returns whether others may have lost this node meanwhile. They count from when they last heard
  // it, which was earlier by an eighth of peer_timeout at most.
  static bool IsDue(std::chrono::nanoseconds stood_still, std::chrono::milliseconds peer_timeout) {
    return stood_still >= peer_timeout * 7 / 8;
  }

  Awakening(const Options& options, SteadyTime now) : options_(options), woke_(now) {}

  // Judges the others. `heard` of them have said something since this node awoke; `gone` have gone.
  Finding Judge(SteadyTime now, size_t heard, size_t gone) const;
  // Returns, for example, "rank 0 itself stood still for 40 s (...)".
  std::string Describe(const std::string& self) const;

 private:
  const Options options_;
  const SteadyTime woke_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_AWAKENING_H_
