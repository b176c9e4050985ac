// Local steps between exchanges: in which rounds nodes communicate.
//
// A round is one gradient at every node. At the end of some rounds the nodes exchange; in the
// others each steps by itself. Exchanges are counted from 0: a changing graph shows its next
// round in the next exchange, whatever the number of local steps. Local steps that share a
// factor with the graph's period would otherwise leave out some of its rounds for ever.
//
// A run that ends between two exchanges ends with local steps.
//
// Thread-safety: values.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_LOCAL_STEPS_H_
#define GRAPEVINE_ALGORITHM_LOCAL_LOCAL_STEPS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

class LocalSteps {
 public:
  // `interval` is the number of rounds from one exchange to the next, at least 1. It need not be a
  // whole number, as the rounds of an epoch may not be; exchanges are then at the ends of the
  // rounds in which epochs end.
  explicit LocalSteps(double interval = 1) : interval_(interval) {}

  // Returns the round at the end of which exchange `index` takes place.
  Round RoundOf(int64_t index) const;
  // Returns the number of exchanges in the rounds before `round`.
  int64_t Before(Round round) const;
  bool ExchangeIn(Round round) const { return RoundOf(Before(round)) == round; }
  // Returns the exchanges per round in a run of `rounds` rounds; in the long run, if their number
  // is not known (0).
  double PerRound(Round rounds) const;

 private:
  double interval_;
};

// Reads the option `key`: a number of rounds (by default `fallback`), "epoch", or "once", which is
// at the end of the run. Errors name the option and the nearest value that works: a run without
// epochs has none to wait for, and a run of fewer rounds would end before the first exchange.
absl::StatusOr<LocalSteps> ReadLocalSteps(const Spec& spec, SpecReader& reader,
                                          const std::string& key, int64_t fallback,
                                          const RunLength& length);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_LOCAL_STEPS_H_
