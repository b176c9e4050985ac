// The output of `grapevine sim --advise`: for people, and as JSON.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_

#include <string>

#include "experiment/advice/advice.h"

namespace grapevine {

// What the advice is based on.
struct AdviceBasis {
  int nodes = 1;
  std::string model;  // as the user named it
  double replica_bytes = 0;
  std::string network;            // every default resolved
  std::string compute;            // time of one gradient
  bool compute_measured = false;  // on this machine, rather than given
  std::string memory_bandwidth;   // "80Gbit"
  std::string straggler;
  std::string split;  // split of the data; empty without data
};

// Returns the recommendation, the candidates side by side, the crossovers, and what all of it is
// based on.
std::string AdviceText(const ClusterAdvice& advice, const AdviceBasis& basis);

// Returns one indented object (docs/simulator.md has its fields) and a line break.
std::string AdviceJson(const ClusterAdvice& advice, const AdviceBasis& basis);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_
