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
  // `interval` rounds from one exchange to the next, at least 1; those of an epoch need not be
  // a whole number, and exchanges are then at the ends of the rounds in which epochs end.
  explicit LocalSteps(double interval = 1) : interval_(interval) {}

  // The round at the end of which exchange `index` takes place.
  Round RoundOf(int64_t index) const;
  // How many exchanges the rounds before `round` have.
  int64_t Before(Round round) const;
  bool ExchangeIn(Round round) const { return RoundOf(Before(round)) == round; }
  // Exchanges for each of `rounds`; in the long run, where their number is not known (0).
  double PerRound(Round rounds) const;

 private:
  double interval_;
};

// The option `key`: a number of rounds (by default `fallback`), "epoch", or "once": at the end of
// the run. Errors name the option and the nearest value that works: a run without epochs has none
// to wait for, and one of fewer rounds would end before the first exchange.
absl::StatusOr<LocalSteps> ReadLocalSteps(const Spec& spec, SpecReader& reader,
                                          const std::string& key, int64_t fallback,
                                          const RunLength& length);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_LOCAL_STEPS_H_
