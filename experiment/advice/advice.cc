#include "experiment/advice/advice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/round_times.h"
#include "experiment/simulated/simulated_cluster.h"
#include "run/config/config.pb.h"
#include "sim/nanoseconds.h"
#include "system/mutex.h"
#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// The default graph comes first, so that it is chosen among equal ones; small graphs may be equal.
std::vector<std::string> AdvisedGraphs(Rank nodes) {
  std::vector<std::string> graphs = AdvisedTopologies(nodes);
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

namespace {

// A candidate that can be formed.
struct Contender {
  Candidate candidate;
  std::unique_ptr<Experiment> experiment;
  RoundTimingOptions timing;
  double round_share = 1;  // rounds for as many gradients as there are nodes
};

// Returns enough rounds for a steady state. With gossip, what slows one node reaches the next in a
// round, so the warm-up must last until a whole ring has felt it; schedules have periods of some
// tens of rounds at most. Centralized rounds are alike after the first. Random times need a mean.
RoundTimingOptions Timing(const Candidate& candidate, const Config& config) {
  constexpr Round kMaxWarmUp = 256, kGossipRounds = 60, kCentralizedRounds = 6;
  const bool drawn =
      absl::StrContains(config.compute(), ":") || absl::StartsWith(config.straggler(), "p=") ||
      config.loss() > 0 ||
      ParseDuration(config.jitter()).value_or(std::chrono::nanoseconds(0)).count() > 0;
  RoundTimingOptions timing;
  timing.warm_up = candidate.centralized ? 2 : std::min<Round>(2 * config.nodes(), kMaxWarmUp);
  timing.measured = candidate.centralized ? kCentralizedRounds : kGossipRounds;
  if (drawn) timing.measured = 4 * kGossipRounds;
  return timing;
}

absl::StatusOr<Contender> MakeContender(const Candidate& candidate, Config config,
                                        const AdviceRunOptions& options) {
  config.set_topology(candidate.topology);
  config.set_algorithm(candidate.algorithm);
  config.set_on_failure("end");  // changes no time
  config.clear_min_nodes();
  config.clear_max_restarts();
  config.clear_join();
  Contender contender{.candidate = candidate, .timing = Timing(candidate, config)};
  contender.timing.interrupted = options.interrupted;
  config.clear_epochs();
  config.set_batch_schedule("none");  // rounds of the first batch are compared
  config.set_rounds(contender.timing.warm_up + contender.timing.measured);
  ASSIGN_OR_RETURN(const Rank workers, WorkerCount(candidate.algorithm, config.nodes()));
  contender.round_share = static_cast<double>(config.nodes()) / workers;
  ASSIGN_OR_RETURN(contender.experiment, Experiment::Build(config));
  return contender;
}

// How far the work has come. One thread calls it at a time.
class ProgressReport {
 public:
  // Each of the contenders is to be timed on `clusters` clusters.
  ProgressReport(const AdviceRunOptions& options, size_t contenders, int clusters)
      : options_(options),
        contenders_(static_cast<double>(contenders)),
        left_(contenders_ * clusters) {}

  void OnCandidate(const Candidate& candidate) {
    ++timed_;
    --left_;
    Say(absl::StrCat(timed_, "/", contenders_, " candidates timed: ", candidate.name()));
  }
  // Called when all contenders are timed on another cluster. `planned`: it is one of those at which
  // a search looks anyway, rather than one more.
  void OnCluster(std::string text, bool planned) {
    timed_ += contenders_;
    if (planned) left_ -= contenders_;
    Say(std::move(text));
  }

 private:
  void Say(std::string text) const {
    if (!options_.on_progress) return;
    options_.on_progress({.text = std::move(text), .timed = timed_, .left = left_});
  }

  const AdviceRunOptions& options_;
  const double contenders_;
  double timed_ = 0;
  double left_;
};

// Returns the seconds of every contender for as many gradients as there are nodes, on `cluster`.
// Calls `on_timed` after each.
absl::StatusOr<std::vector<double>> TimeAll(
    const std::vector<Contender>& contenders, const Config& cluster,
    const AdviceRunOptions& options,
    const std::function<void(const Candidate&)>& on_timed = nullptr) {
  std::vector<double> seconds(contenders.size());
  absl::Status status;
  Mutex mutex;
  size_t next = 0;
  const auto work = [&] {
    while (true) {
      size_t mine;
      {
        MutexLock lock(mutex);
        if (next == contenders.size() || !status.ok()) return;
        mine = next++;
      }
      const Contender& contender = contenders[mine];
      const absl::StatusOr<double> time =
          TimeRounds(*contender.experiment, cluster, contender.timing);
      MutexLock lock(mutex);
      if (time.ok()) {
        seconds[mine] = *time * contender.round_share;
        if (on_timed) on_timed(contender.candidate);
      } else {
        status.Update(time.status());
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  RETURN_IF_ERROR(status);
  return seconds;
}

absl::Status Mix(const Experiment& experiment, CandidateResult* result) {
  if (result->candidate.centralized) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TopologySummary summary, Summarize(experiment.mixing(), 0));
  result->rounds_to_mix = summary.rounds_to_tenth;
  result->gap = 1 - summary.shrink;
  return absl::OkStatus();
}

// Returns the best time of a centralized method over the best of gossip, on a cluster.
absl::StatusOr<double> Advantage(const std::vector<Contender>& contenders, const Config& cluster,
                                 const AdviceRunOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<double> seconds, TimeAll(contenders, cluster, options));
  double gossip = std::numeric_limits<double>::infinity();
  double centralized = gossip;
  for (size_t i = 0; i < contenders.size(); ++i) {
    double& best = contenders[i].candidate.centralized ? centralized : gossip;
    best = std::min(best, seconds[i]);
  }
  return centralized / gossip;
}

// Finds the crossovers over the quantity that `place` sets, called `what` ("bandwidth").
absl::StatusOr<CrossoverSearch> Search(const std::vector<Contender>& contenders,
                                       const Config& config, const AdviceRunOptions& options,
                                       ProgressReport& progress, const char* what, double low,
                                       double high,
                                       const std::function<std::string(double, Config*)>& place) {
  int looked_at = 0, planned = kScanPoints;
  double highest = 0;
  return FindCrossovers(low, high, [&](double value) -> absl::StatusOr<double> {
    Config cluster = config;
    const std::string text = place(value, &cluster);
    absl::StatusOr<double> advantage = Advantage(contenders, cluster, options);
    if (!advantage.ok()) return advantage;
    const bool scanned = value > highest;  // else it is between two scanned values
    highest = std::max(highest, value);
    if (!scanned) ++planned;
    progress.OnCluster(absl::StrCat("crossovers: ", what, " ", text, " looked at, ", ++looked_at,
                                    " of at least ", planned),
                       scanned);
    return advantage;
  });
}

// Returns why crossovers cannot be searched; empty where they can.
std::string WhyNoCrossovers(const std::vector<Contender>& contenders, const Config& config) {
  const auto centralized = std::ranges::count_if(
      contenders, [](const Contender& contender) { return contender.candidate.centralized; });
  if (centralized == 0 || centralized == std::ssize(contenders)) {
    return "one side has no candidate for this many nodes";
  }
  if (absl::StartsWith(config.network(), "file:")) {
    return "the network's file fixes bandwidths and latencies";
  }
  return "";
}

absl::Status SearchCrossovers(const std::vector<Contender>& contenders, const Config& config,
                              const AdviceRunOptions& options, ProgressReport& progress,
                              ClusterAdvice* advice) {
  ASSIGN_OR_RETURN(CrossoverSearch bandwidth,
                   Search(contenders, config, options, progress, "bandwidth", kLowestBandwidth,
                          kHighestBandwidth, [](double bits, Config* cluster) {
                            cluster->set_bandwidth(FormatBandwidth(std::llround(bits)));
                            return FormatBandwidth(ThreeDigits(std::llround(bits)));
                          }));
  ASSIGN_OR_RETURN(CrossoverSearch latency,
                   Search(contenders, config, options, progress, "latency", kLowestLatency,
                          kHighestLatency, [](double seconds, Config* cluster) {
                            cluster->set_latency(FormatDuration(
                                std::chrono::nanoseconds(std::llround(1e9 * seconds))));
                            return HumanDuration(seconds);
                          }));
  advice->bandwidth = std::move(bandwidth);
  advice->latency = std::move(latency);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SimulatedCluster> made, SimulatedCluster::Make(cluster));
  const Round end = options.warm_up + options.measured;
  ASSIGN_OR_RETURN(const std::vector<Nanoseconds> times,
                   RoundTimes(experiment, *made, end, options.interrupted));
  return SecondsOfNanoseconds(times[end] - times[options.warm_up]) /
         static_cast<double>(options.measured);
}

absl::StatusOr<ClusterAdvice> AdviseCluster(const Config& config, const AdviceRunOptions& options) {
  // Errors of the network are reported before any candidate is blamed.
  RETURN_IF_ERROR(SimulatedCluster::Make(config).status());
  ClusterAdvice result;
  std::vector<Contender> contenders;
  for (const Candidate& candidate : AdviceCandidates(config.nodes())) {
    absl::StatusOr<Contender> contender = MakeContender(candidate, config, options);
    if (contender.ok()) {
      contenders.push_back(*std::move(contender));
    } else {
      result.left_out.emplace_back(candidate, contender.status());
    }
  }
  if (contenders.empty()) return result.left_out.front().second;
  result.no_crossovers = WhyNoCrossovers(contenders, config);
  const int clusters = result.no_crossovers.empty() ? 1 + 2 * kScanPoints : 1;
  ProgressReport progress(options, contenders.size(), clusters);
  ASSIGN_OR_RETURN(const std::vector<double> seconds,
                   TimeAll(contenders, config, options,
                           [&](const Candidate& candidate) { progress.OnCandidate(candidate); }));
  std::vector<CandidateResult> results;
  for (size_t i = 0; i < contenders.size(); ++i) {
    CandidateResult ranked{.candidate = contenders[i].candidate, .seconds = seconds[i]};
    RETURN_IF_ERROR(Mix(*contenders[i].experiment, &ranked));
    ASSIGN_OR_RETURN(ranked.memory, contenders[i].experiment->VectorBytes());
    results.push_back(std::move(ranked));
  }
  result.advice = Advise(std::move(results));
  if (result.no_crossovers.empty()) {
    RETURN_IF_ERROR(SearchCrossovers(contenders, config, options, progress, &result));
  }
  return result;
}

}  // namespace grapevine
