#include "experiment/advice/advice.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"
#include "run/config/config.pb.h"
#include "topology/topology_kind.h"

namespace grapevine {
namespace {

// The default comes first, since it is chosen among graphs that are equal, as small ones may be.
std::vector<std::string> AdvisedGraphs(Rank nodes) {
  std::vector<std::string> graphs;
  for (const TopologyKind* kind : Topologies().All()) {
    if (!kind->advised) continue;
    for (std::string& spec : kind->advised(nodes)) graphs.push_back(std::move(spec));
  }
  std::stable_partition(graphs.begin(), graphs.end(),
                        [](const std::string& spec) { return spec == Config().topology(); });
  return graphs;
}

constexpr double kPrecision = 1.02;

}  // namespace

std::string Candidate::name() const {
  return centralized ? algorithm : absl::StrCat(algorithm, " on ", topology);
}

std::vector<Candidate> AdviceCandidates(Rank nodes) {
  std::vector<Candidate> gossip, centralized;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    if (!kind->advised) continue;
    for (const std::string& algorithm : kind->advised(nodes)) {
      if (kind->centralized) {
        centralized.push_back({Config().topology(), algorithm, true});
        continue;
      }
      for (const std::string& topology : AdvisedGraphs(nodes)) {
        gossip.push_back({topology, algorithm});
      }
    }
  }
  gossip.insert(gossip.end(), centralized.begin(), centralized.end());
  return gossip;
}

Advice Advise(std::vector<CandidateResult> results) {
  Advice advice{.ranking = std::move(results)};
  std::ranges::stable_sort(advice.ranking, {}, &CandidateResult::seconds);
  const double fast_enough = (1 + kTolerance) * advice.ranking.front().seconds;
  const auto merit = [&](size_t i) {
    return std::tuple(advice.ranking[i].rounds_to_mix, advice.ranking[i].seconds);
  };
  for (size_t i = 0; i < advice.ranking.size(); ++i) {
    const CandidateResult& result = advice.ranking[i];
    std::optional<size_t>& best =
        result.candidate.centralized ? advice.best_centralized : advice.best_gossip;
    if (!best) best = i;
    if (result.seconds <= fast_enough && merit(i) < merit(advice.chosen)) advice.chosen = i;
  }
  return advice;
}

Verdict VerdictOf(double advantage) {
  if (advantage > 1 + kTolerance) return Verdict::kGossip;
  return advantage * (1 + kTolerance) < 1 ? Verdict::kCentralized : Verdict::kTie;
}

absl::StatusOr<CrossoverSearch> FindCrossovers(
    double low, double high, const std::function<absl::StatusOr<double>(double)>& advantage) {
  CrossoverSearch search{.low = low, .high = high};
  const double step = std::pow(high / low, 1.0 / (kScanPoints - 1));
  double last_at = low;
  Verdict last = Verdict::kTie;
  for (int i = 0; i < kScanPoints; ++i) {
    const double at = low * std::pow(step, i);
    ASSIGN_OR_RETURN(const double here, advantage(at));
    const Verdict verdict = VerdictOf(here);
    if (i == 0) search.advantage_low = here;
    search.advantage_high = here;
    if (i > 0 && verdict != last) {
      double below = last_at;
      double above = at;
      while (above / below > kPrecision) {
        const double middle = std::sqrt(below * above);
        ASSIGN_OR_RETURN(const double there, advantage(middle));
        (VerdictOf(there) == last ? below : above) = middle;
      }
      search.crossovers.push_back({std::sqrt(below * above), last, verdict});
    }
    last_at = at;
    last = verdict;
  }
  return search;
}

}  // namespace grapevine
