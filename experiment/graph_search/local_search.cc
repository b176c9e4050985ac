#include "experiment/graph_search/local_search.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/graph_search/mutations.h"
#include "random/keyed_random.h"
#include "topology/spectrum/consensus.h"

namespace grapevine {
namespace {

using Rounds = std::vector<WeightedRound>;

// Longer products tell little more of a graph, and take longer.
constexpr Round kLongestHorizon = 32;
// A graph that needs more rounds is of no use on a network.
constexpr Round kMostRounds = 2000;

// Returns the options for FitWeights within `work`. A step makes three products of matrices a
// round. No steps are made if a few over a period are more work.
WeightFit FitWithin(double work, Rank n, Round period, Round horizon) {
  constexpr int kFew = 4, kMany = 60;
  const double round = 6.0 * n * n * n;
  const auto longest = static_cast<Round>(std::min<double>(kLongestHorizon, work / (kFew * round)));
  if (longest < period) return {.horizon = 1, .steps = 0};
  WeightFit fit{.horizon = std::clamp<Round>(horizon, 1, longest), .steps = kMany};
  fit.steps =
      static_cast<int>(std::min<double>(kMany, work / (static_cast<double>(fit.horizon) * round)));
  return fit;
}

std::string NameOf(const Rounds& rounds) {
  if (rounds.size() > 1) return absl::StrCat("schedule of ", rounds.size(), " rounds");
  return absl::StrCat("graph of ", rounds.front().size(), " edges");
}

// Drops edges whose weight is too little to be worth a message.
void DropIdleEdges(Rounds* rounds) {
  constexpr double kIdle = 1e-3;
  for (WeightedRound& round : *rounds) {
    std::erase_if(round, [](const WeightedEdge& edge) { return edge.weight < kIdle; });
  }
}

std::vector<double> SecondsOf(const Rounds& rounds, const LinkLoads& loads) {
  std::vector<double> seconds;
  for (const WeightedRound& round : rounds) seconds.push_back(loads.Seconds(round));
  return seconds;
}

std::optional<FittedSchedule> Weighed(Rounds rounds, const LinkLoads& loads,
                                      const SearchLimits& limits, double seconds) {
  std::shared_ptr<const Mixing> mixing = MakeWeighted(NameOf(rounds), loads.nodes(), rounds);
  if (MostSent(mixing->topology()) > limits.degree) return std::nullopt;
  const std::vector<double> by_round = SecondsOf(rounds, loads);
  double estimate = 0;
  Round most = 0;
  while (most < kMostRounds && estimate <= seconds) {
    estimate += by_round[most++ % by_round.size()];
  }
  const std::optional<Round> needed = RoundsToConsensus(*mixing, kConsensus, most);
  if (!needed) return std::nullopt;
  estimate = 0;
  for (Round round = 0; round < *needed; ++round) estimate += by_round[round % by_round.size()];
  return FittedSchedule{std::move(rounds), std::move(mixing), *needed, estimate};
}

// Returns the most promising of a few changes, if any is of use.
std::optional<FittedSchedule> BestChange(const SearchedGraph& graph, const LinkLoads& loads,
                                         const SearchLimits& limits, KeyedRandom* random) {
  constexpr int kChanges = 16;
  constexpr int kMutations = 3;   // the most mutations of a change
  constexpr double kWork = 1e7;   // bounds the search for weights of a change
  constexpr double kSlack = 1.2;  // factor by which the estimate may be too long
  std::optional<FittedSchedule> best;
  for (int i = 0; i < kChanges; ++i) {
    Rounds changed = graph.rounds;
    for (uint64_t times = 1 + random->Below(kMutations); times > 0; --times) {
      changed = Mutated(loads.nodes(), std::move(changed), limits.fixed, random);
    }
    std::optional<FittedSchedule> fitted =
        Fitted(std::move(changed), loads, limits, kSlack * graph.judged.seconds, kWork);
    if (fitted && (!best || fitted->estimate < best->estimate)) best = std::move(fitted);
  }
  return best;
}

}  // namespace

std::optional<FittedSchedule> Fitted(Rounds rounds, const LinkLoads& loads,
                                     const SearchLimits& limits, double seconds, double work) {
  for (WeightedRound& round : rounds) MakeFeasible(loads.nodes(), &round);
  std::optional<FittedSchedule> best = Weighed(rounds, loads, limits, seconds);
  // Fits for one round less, which may be enough.
  const WeightFit fit = FitWithin(work, loads.nodes(), static_cast<Round>(rounds.size()),
                                  best ? best->to_consensus - 1 : kLongestHorizon);
  if (fit.steps == 0) return best;
  Rounds fitted = FitWeights(loads.nodes(), std::move(rounds), fit);
  DropIdleEdges(&fitted);
  std::optional<FittedSchedule> weighed = Weighed(std::move(fitted), loads, limits, seconds);
  if (weighed && (!best || weighed->estimate < best->estimate)) best = std::move(weighed);
  return best;
}

absl::Status ImproveAll(const LinkLoads& loads, const SearchLimits& limits, Judge* judge,
                        std::vector<SearchedGraph>* graphs,
                        const std::function<void(const JudgedGraph&)>& on_judged) {
  if (graphs->empty()) return absl::OkStatus();
  KeyedRandom random(limits.seed, Purpose::kGraphSearch);
  // Turns without a useful change count, too, so that the search ends.
  const int64_t turns = limits.simulations - judge->simulations();
  for (int64_t turn = 0; turn < turns && judge->simulations() < limits.simulations; ++turn) {
    SearchedGraph& graph = (*graphs)[turn % graphs->size()];
    std::optional<FittedSchedule> change = BestChange(graph, loads, limits, &random);
    if (!change) continue;
    ASSIGN_OR_RETURN(const std::optional<JudgedGraph> judged, judge->Time(change->mixing));
    if (!judged) continue;
    on_judged(*judged);
    if (judged->seconds < graph.judged.seconds) graph = {std::move(change->rounds), *judged};
  }
  return absl::OkStatus();
}

}  // namespace grapevine
