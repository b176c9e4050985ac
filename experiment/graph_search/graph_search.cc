#include "experiment/graph_search/graph_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment.h"
#include "experiment/core/phantom_settings.h"
#include "experiment/graph_search/candidates.h"
#include "experiment/graph_search/families.h"
#include "experiment/graph_search/groups.h"
#include "experiment/graph_search/link_loads.h"
#include "experiment/graph_search/local_search.h"
#include "experiment/simulated/simulated_cluster.h"
#include "run/config/config_field.h"
#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// Returns the configuration that is timed: communication alone, on graphs that the search gives.
// Drops what else a configuration may ask of a run.
Config TimedConfig(Config config) {
  for (const char* name :
       {"topology", "mixing", "algorithm", "epochs", "chaos", "min_nodes", "max_restarts", "join",
        "batch_schedule", "checkpoint_every", "resume"}) {
    ClearField(ConfigFieldNamed(name), &config);
  }
  config.set_schedule("constant");
  config.set_on_failure("end");
  config.set_rounds(1);
  if (!config.has_compute()) config.set_compute("0s");
  return config;
}

absl::Status CheckRequest(const Config& config, const GraphSearchOptions& options) {
  if (config.nodes() < 2 || config.nodes() > kMostOptimized) {
    return UsageError(absl::StrCat("--nodes=", config.nodes(), ": --optimize is for 2 to ",
                                   kMostOptimized, " nodes"));
  }
  if (options.degree < 0 || options.degree >= config.nodes()) {
    return UsageError(absl::StrCat("--degree=", options.degree, ": a node has 1 to ",
                                   config.nodes() - 1, " neighbours (0: no limit)"));
  }
  if (options.fixed && options.degree == 1 && config.nodes() > 2) {
    return UsageError(
        "--degree=1: one neighbour for each node joins only pairs; allow a schedule "
        "(drop --fixed) or --degree=2");
  }
  if (options.simulations < 1) {
    return UsageError(
        absl::StrCat("--budget=", options.simulations, ": at least one graph must be simulated"));
  }
  return absl::OkStatus();
}

absl::Status AddShrink(JudgedGraph* judged) {
  ASSIGN_OR_RETURN(const TopologySummary summary, Summarize(*judged->mixing, 0));
  judged->shrink = summary.shrink;
  return absl::OkStatus();
}

class GraphSearch {
 public:
  GraphSearch(const GraphSearchOptions& options, const SearchLimits& limits,
              const SimulatedCluster& cluster, int64_t bytes, Config config)
      : options_(options),
        limits_(limits),
        loads_(cluster, bytes),
        nearness_(GroupByNearness(loads_.nodes(),
                                  [this](Rank from, Rank to) { return loads_.Seconds(from, to); })),
        judge_(std::move(config), &cluster, options.interrupted) {}

  absl::StatusOr<GraphSearchResult> Run() {
    GraphSearchResult result;
    const auto families = Families(loads_.nodes(), limits_.seed);
    for (const auto& family : families) {
      ASSIGN_OR_RETURN(std::optional<JudgedGraph> judged, Try(family));
      if (judged) result.families.push_back(*std::move(judged));
    }
    std::ranges::stable_sort(result.families, {}, &JudgedGraph::seconds);
    std::vector<std::shared_ptr<const Mixing>> placed;
    for (const auto& family : families) {
      placed.push_back(Placed(*family, BestPlaces(family->topology(), nearness_, loads_)));
    }
    ASSIGN_OR_RETURN(std::vector<SearchedGraph> elites, TryCandidates(placed));
    for (const auto& family : placed) {
      if (!Exhausted()) RETURN_IF_ERROR(Try(family).status());
    }
    RETURN_IF_ERROR(ImproveAll(loads_, limits_, &judge_, &elites,
                               [this](const JudgedGraph& judged) { Offer(judged); }));
    if (options_.interrupted != nullptr && *options_.interrupted) {
      return InterruptedError("interrupted");
    }
    if (!best_) {
      return UsageError(absl::StrCat("--budget=", limits_.simulations,
                                     ": too few to find a graph within --degree; raise it"));
    }
    result.best = *best_;
    for (size_t i = 0; i < result.families.size(); ++i) {
      const JudgedGraph& family = result.families[i];
      if (!result.best_family && Allowed(family)) result.best_family = i;
      result.best_is_family |= family.mixing == result.best.mixing;
    }
    result.simulations = judge_.simulations();
    RETURN_IF_ERROR(AddShrink(&result.best));
    for (JudgedGraph& family : result.families) RETURN_IF_ERROR(AddShrink(&family));
    return result;
  }

 private:
  // About half of the simulations are of candidates. The others improve this many of the best.
  static constexpr int kElites = 4;
  // A candidate that takes up to this many times the best time of a family may be improved to less.
  static constexpr double kPromising = 3;

  bool Exhausted() const { return judge_.simulations() >= limits_.simulations; }

  absl::StatusOr<std::optional<JudgedGraph>> Try(std::shared_ptr<const Mixing> mixing) {
    ASSIGN_OR_RETURN(std::optional<JudgedGraph> judged, judge_.Time(std::move(mixing)));
    if (judged) Offer(*judged);
    return judged;
  }

  bool Allowed(const JudgedGraph& judged) const {
    return judged.degree <= limits_.degree &&
           (!limits_.fixed || judged.mixing->topology().period() == 1);
  }

  void Offer(const JudgedGraph& judged) {
    const bool better = Allowed(judged) && (!best_ || judged.seconds < best_->seconds);
    if (better) best_ = judged;
    Tell(better);
  }

  void Tell(bool better) const {
    if (!options_.on_progress) return;
    std::string text =
        absl::StrCat(judge_.simulations(), "/", limits_.simulations, " graphs simulated");
    if (best_) {
      absl::StrAppend(&text, ": ", best_->mixing->topology().name(), ", ",
                      HumanDuration(best_->seconds), " to consensus");
    }
    options_.on_progress(text, better);
  }

  // Returns the best few candidates.
  absl::StatusOr<std::vector<SearchedGraph>> TryCandidates(
      const std::vector<std::shared_ptr<const Mixing>>& placed) {
    std::vector<SearchedGraph> tried;
    const int64_t until = (judge_.simulations() + limits_.simulations) / 2;
    const double promising =
        best_ ? kPromising * best_->seconds : std::numeric_limits<double>::infinity();
    for (FittedSchedule& candidate : Candidates(nearness_, loads_, placed, limits_, promising)) {
      if (judge_.simulations() >= until) break;
      ASSIGN_OR_RETURN(std::optional<JudgedGraph> judged, Try(candidate.mixing));
      if (judged) tried.push_back({std::move(candidate.rounds), *std::move(judged)});
    }
    std::ranges::stable_sort(tried, {},
                             [](const SearchedGraph& graph) { return graph.judged.seconds; });
    if (tried.size() > kElites) tried.resize(kElites);
    return tried;
  }

  const GraphSearchOptions& options_;
  const SearchLimits limits_;
  const LinkLoads loads_;
  const Group nearness_;
  Judge judge_;
  std::optional<JudgedGraph> best_;
};

}  // namespace

absl::StatusOr<GraphSearchResult> SearchGraph(const Config& given,
                                              const GraphSearchOptions& options) {
  RETURN_IF_ERROR(CheckRequest(given, options));
  Config config = TimedConfig(given);
  ASSIGN_OR_RETURN(const std::unique_ptr<SimulatedCluster> cluster, SimulatedCluster::Make(config));
  int64_t elements = 0;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(config));
    elements = experiment->layout().size;
    if (experiment->problem().learns()) ForgetLearning(elements, &config);
  }
  const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
  const SearchLimits limits{.degree = options.degree > 0 ? options.degree : config.nodes() - 1,
                            .fixed = options.fixed,
                            .simulations = options.simulations,
                            .seed = config.seed(),
                            .interrupted = options.interrupted};
  ASSIGN_OR_RETURN(GraphSearchResult result,
                   GraphSearch(options, limits, *cluster, bytes, config).Run());
  result.network = cluster->network().description();
  result.replica_bytes = static_cast<double>(bytes);
  return result;
}

}  // namespace grapevine
