// Whether the others still follow a coordinator that stood still for about as long as they wait for
// it. If they stood still, too, they do, and the run goes on. If not, they have ended or gone on
// without it: that is no failure of theirs, and it must not go on alone.
//
// Until this is known nobody is judged: processes that are gone are kept for later (Tenure).
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
    std::chrono::milliseconds peer_timeout;  // how long the others wait
    size_t others;                           // the members then, but for this node
    bool resilient;                          // they may be fewer from here on
  };

  // Whether others may have lost this node meanwhile. They count from when they last heard it,
  // which was an eighth earlier at most.
  static bool IsDue(std::chrono::nanoseconds stood_still, std::chrono::milliseconds peer_timeout) {
    return stood_still >= peer_timeout * 7 / 8;
  }

  Awakening(const Options& options, SteadyTime now) : options_(options), woke_(now) {}

  // `heard`: how many of the others have said something since. `gone`: how many have gone.
  Finding Judge(SteadyTime now, size_t heard, size_t gone) const;
  // "rank 0 itself stood still for 40 s (...)".
  std::string Describe(const std::string& self) const;

 private:
  const Options options_;
  const SteadyTime woke_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_AWAKENING_H_
