#include "experiment/graph_search/judge.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/round_times.h"
#include "sim/nanoseconds.h"
#include "topology/spectrum/consensus.h"
#include "topology/topology.h"

namespace grapevine {

Rank MostSent(const Topology& topology) {
  Rank most = 0;
  for (Round round = 0; round < topology.period(); ++round) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      most = std::max(most, topology.OutDegree(rank, round));
    }
  }
  return most;
}

absl::StatusOr<std::optional<JudgedGraph>> Judge::Time(std::shared_ptr<const Mixing> mixing,
                                                       Round most) {
  const std::optional<Round> rounds = RoundsToConsensus(*mixing, kConsensus, most);
  if (!rounds) return std::nullopt;
  JudgedGraph judged{.mixing = mixing, .degree = MostSent(mixing->topology()), .rounds = *rounds};
  ASSIGN_OR_RETURN(judged.seconds, SecondsOf(mixing, *rounds));
  return judged;
}

absl::StatusOr<double> Judge::SecondsOf(const std::shared_ptr<const Mixing>& mixing, Round rounds) {
  ++simulations_;
  Config config = config_;
  const Round simulated = std::min(rounds, kSimulated);
  config.set_rounds(simulated);
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment,
                   Experiment::BuildOn(mixing, config));
  ASSIGN_OR_RETURN(const std::vector<Nanoseconds> ends,
                   RoundTimes(*experiment, *cluster_, simulated, interrupted_));
  const double seconds = SecondsOfNanoseconds(static_cast<double>(ends[simulated]));
  if (simulated == rounds) return seconds;
  const Round half = simulated / 2;
  const double later = SecondsOfNanoseconds(static_cast<double>(ends[simulated] - ends[half]));
  return seconds +
         later / static_cast<double>(simulated - half) * static_cast<double>(rounds - simulated);
}

}  // namespace grapevine
