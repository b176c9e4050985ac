// What `grapevine sim --advise` prints: for people, and as JSON.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_

#include <string>

#include "experiment/advice/advice_run.h"

namespace grapevine {

// What the advice rests on.
struct AdviceBasis {
  int nodes = 1;
  std::string model;  // as the user named it
  double replica_bytes = 0;
  std::string network;            // every default resolved
  std::string compute;            // of one gradient
  bool compute_measured = false;  // on this machine, rather than given
  std::string memory_bandwidth;   // "80Gbit"
  std::string straggler;
  std::string split;  // of the data; empty where there are none
};

// The recommendation, the candidates beside each other, the crossovers, and what it
// all rests on.
std::string AdviceText(const ClusterAdvice& advice, const AdviceBasis& basis);

// One indented object (docs/simulator.md has its fields) and a line break.
std::string AdviceJson(const ClusterAdvice& advice, const AdviceBasis& basis);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_REPORT_H_
