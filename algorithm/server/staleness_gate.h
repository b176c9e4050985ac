// Who may begin a step where staleness is bounded (stale-synchronous parallel; Ho et al. 2013): no
// worker more than so many steps ahead of the slowest that is not at its limit.
//
// Each server keeps one and goes by the steps that have reached it. They see the same steps, and
// which of them were a worker's last, though not at the same time; a worker waits for all of them.
// That does not deadlock: where no message is on its way all gates agree, and the slowest worker
// passes each of them. A worker at its limit is not waited for, or it would hold up the others for
// good when the budget of gradients is used up; it asks before it goes on, so that nobody is far
// ahead of it unnoticed.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_SERVER_STALENESS_GATE_H_
#define GRAPEVINE_ALGORITHM_SERVER_STALENESS_GATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "algorithm/server/push.h"
#include "base/ids.h"

namespace grapevine {

class StalenessGate {
 public:
  // Without a bound everybody may begin at any time.
  StalenessGate(Rank workers, std::optional<int64_t> bound);

  bool bounded() const { return bound_.has_value(); }
  // Whether a worker may ask that now.
  bool Allows(Rank worker, Ask ask) const;
  // A worker's step has been done, or it asks to go on.
  void On(Rank worker, Ask ask);
  // Whether a worker may have its answer: it begins no step, or is not too far ahead.
  bool Passes(Rank worker) const;

 private:
  struct Worker {
    int64_t steps = 0;
    bool at_limit = false;
  };

  std::optional<int64_t> bound_;
  std::vector<Worker> workers_;
  std::map<int64_t, Rank> going_;  // how many that are not at their limit have done so many steps
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_STALENESS_GATE_H_
