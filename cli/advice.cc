#include "cli/advice.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string Candidate::name() const {
  return centralized ? algorithm : absl::StrCat(algorithm, " on ", topology);
}

std::vector<Candidate> AdviceCandidates(Rank nodes) {
  std::vector<Candidate> candidates;
  for (const char* topology : {"ring", "torus", "exponential", "one-peer-exponential"}) {
    candidates.push_back({topology, "dpsgd"});
  }
  // An odd number of nodes has no graph of odd degree.
  candidates.push_back({nodes % 2 == 0 ? "random:d=3" : "random:d=4", "dpsgd"});
  if (nodes <= kMostComplete) candidates.push_back({"complete", "dpsgd"});
  for (const char* kind : {"ring", "halving-doubling", "tree", "hierarchical", "torus"}) {
    // Whole, and beside the backward pass as D-PSGD's exchange is beside the gradient.
    candidates.push_back({"ring", absl::StrCat("allreduce:", kind), true});
    candidates.push_back({"ring", absl::StrCat("allreduce:", kind, ":buckets=4"), true});
  }
  for (const Rank servers : std::set<Rank>{1, nodes / 4, nodes / 2}) {
    if (servers < 1 || servers >= nodes) continue;
    candidates.push_back({"ring", absl::StrCat("ps:servers=", servers), true});
  }
  return candidates;
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

}  // namespace grapevine
