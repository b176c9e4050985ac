// Everything that is worth knowing about a graph and its weights before a run.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_SUMMARY_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_SUMMARY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/spectrum/spectrum.h"
#include "topology/weights/mixing.h"

namespace grapevine {

struct TopologySummary {
  std::string topology;
  std::string mixing;
  Rank nodes = 0;
  bool directed = false;
  Round period = 1;  // 0: never repeats

  // Of `round`. A node sends one replica to each out-neighbour, so its degree is
  // also what it sends in a round, in units of a replica.
  Round round = 0;
  int64_t edges = 0;  // undirected ones counted once
  Rank degree_min = 0;
  Rank degree_max = 0;
  double degree_mean = 0;
  Spectrum spectrum;

  // Over the schedule.
  std::vector<double> rho_by_round;   // of each round of a period above 1
  std::optional<Spectrum> product;    // of a period above 1
  std::optional<double> contraction;  // ExpectedContraction, where the period is 0
  bool exact = false;                 // a period averages exactly

  // What one round does to the disagreement (a norm, not its square) in the long
  // run: rho, or the period's mean, or the root of the expected contraction.
  double shrink = 0;
  // Rounds until averaging alone leaves a tenth of the disagreement; infinite where rho is
  // 1 up to rounding.
  double rounds_to_tenth = 0;
};

// Fails where a spectrum cannot be computed (spectrum.h).
absl::StatusOr<TopologySummary> Summarize(const Mixing& mixing, Round round);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_SUMMARY_H_
