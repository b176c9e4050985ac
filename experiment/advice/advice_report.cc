#include "experiment/advice/advice_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/units.h"

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;
using NameOf = std::string (*)(double);

std::string Bandwidth(double bits) {
  // Three digits: more are not significant.
  const double unit = std::pow(10, std::floor(std::log10(bits)) - 2);
  return FormatBandwidth(std::llround(std::round(bits / unit) * unit));
}

const char* Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGossip:
      return "gossip";
    case Verdict::kCentralized:
      return "centralized";
    case Verdict::kTie:
      break;
  }
  return "tie";
}

std::string Says(Verdict verdict) {
  if (verdict == Verdict::kTie) {
    return absl::StrFormat("neither is faster by more than %g %%", 100 * kTolerance);
  }
  return absl::StrCat(verdict == Verdict::kGossip ? "gossip" : "the best centralized method",
                      " is faster");
}

std::string Factor(double advantage) { return absl::StrFormat("%.3g\u00d7", advantage); }

std::string CrossoverText(const char* what, const char* other, const CrossoverSearch& search,
                          NameOf name) {
  std::string text = absl::StrCat("  ", what, ", ", other, " as it is: ");
  if (search.crossovers.empty()) {
    absl::StrAppend(&text, "none between ", name(search.low), " and ", name(search.high), ": ",
                    Says(VerdictOf(search.advantage_low)), " throughout");
  } else {
    absl::StrAppend(&text, Says(search.crossovers.front().below));
    for (const Crossover& crossover : search.crossovers) {
      absl::StrAppend(&text, "; from ", name(crossover.at), " on ", Says(crossover.above));
    }
  }
  absl::StrAppend(&text, "\n    (gossip's speed over that of the best centralized method: ",
                  Factor(search.advantage_low), " at ", name(search.low), ", ",
                  Factor(search.advantage_high), " at ", name(search.high), ")\n");
  return text;
}

std::string Recommendation(const Advice& advice) {
  const CandidateResult& chosen = advice.ranking[advice.chosen];
  std::string text =
      absl::StrCat("take ", chosen.candidate.name(), ": ", HumanDuration(chosen.seconds),
                   " a round, which says nothing of how many rounds it takes (below)\n");
  const std::optional<size_t>& rival =
      chosen.candidate.centralized ? advice.best_gossip : advice.best_centralized;
  if (rival && advice.ranking[*rival].seconds > (1 + kTolerance) * chosen.seconds) {
    const CandidateResult& other = advice.ranking[*rival];
    absl::StrAppendFormat(&text, "  %.3g times as fast as the best %s (%s, %s)\n",
                          other.seconds / chosen.seconds,
                          chosen.candidate.centralized ? "gossip" : "centralized method",
                          other.candidate.name(), HumanDuration(other.seconds));
  } else if (rival) {
    const CandidateResult& other = advice.ranking[*rival];
    absl::StrAppendFormat(&text, "  %s is within %g %% of that (%s)\n", other.candidate.name(),
                          100 * kTolerance, HumanDuration(other.seconds));
  }
  const CandidateResult& fastest = advice.ranking.front();
  if (fastest.rounds_to_mix > chosen.rounds_to_mix) {
    absl::StrAppendFormat(
        &text,
        "  chosen over %s, at most %g %% faster (%s), which mixes in %.0f rounds, not %.0f\n",
        fastest.candidate.name(), 100 * kTolerance, HumanDuration(fastest.seconds),
        fastest.rounds_to_mix, chosen.rounds_to_mix);
  }
  return text;
}

// Returns what times do not show.
std::string Caution(const Advice& advice, const AdviceBasis& basis) {
  if (basis.split.empty() || basis.split == "iid") return "";
  std::string text = absl::StrCat("  Caution: --split=", basis.split,
                                  " makes the nodes' data differ, and how many more rounds ",
                                  "that costs a\n  graph is not known here: this advice is about "
                                  "times only. For gossip, prefer few "
                                  "rounds to mix");
  if (advice.best_centralized) {
    absl::StrAppend(&text, ";\n  ", advice.ranking[*advice.best_centralized].candidate.name(),
                    " averages exactly in every round");
  }
  return absl::StrCat(text, ". Try both with your data.\n");
}

std::string Table(const ClusterAdvice& advice) {
  size_t width = 0;
  for (const CandidateResult& result : advice.advice.ranking) {
    width = std::max(width, result.candidate.name().size());
  }
  std::string text = absl::StrFormat("%-*s  %9s  %8s  %7s  %13s  %s\n", static_cast<int>(width), "",
                                     "a round", "slower", "gap", "rounds to mix", "memory");
  const double fastest = advice.advice.ranking.front().seconds;
  for (const CandidateResult& result : advice.advice.ranking) {
    absl::StrAppendFormat(&text, "%-*s  %9s  %7.2f\u00d7  %7.3f  %13.0f  %s\n",
                          static_cast<int>(width), result.candidate.name(),
                          HumanDuration(result.seconds), result.seconds / fastest, result.gap,
                          result.rounds_to_mix, HumanSize(static_cast<double>(result.memory)));
  }
  for (const auto& [candidate, why] : advice.left_out) {
    absl::StrAppend(&text, candidate.name(), ": not possible (", std::string(why.message()), ")\n");
  }
  return text;
}

// Returns, by algorithm, which part of the exchange is hidden by computation.
std::string Overlaps() {
  std::string text;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    if (kind->advised && !kind->overlap.empty()) absl::StrAppend(&text, kind->overlap, ";\n    ");
  }
  return text + "all others send when the whole gradient is there\n";
}

// Returns the algorithms whose nodes wait for no other: "adpsgd", or "ps:async" of a kind that has
// others, too.
std::string NotCompared() {
  std::vector<std::string> names;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    const auto found = std::ranges::find_if_not(kind->examples, HasRounds);
    if (found == kind->examples.end()) continue;
    names.push_back(std::ranges::none_of(kind->examples, HasRounds) ? kind->name : *found);
  }
  return absl::StrJoin(names, ", ");
}

std::string Basis(const AdviceBasis& basis) {
  std::string text = absl::StrFormat(
      "This rests on\n"
      "  model: %s, replicas of %s\n"
      "  network: %s; rates are goodput\n"
      "  nodes: %d%s\n"
      "  compute: %s a gradient, %s\n"
      "  mixing and stepping: at %s of memory bandwidth (--memory-bandwidth)\n",
      basis.model, HumanSize(basis.replica_bytes), basis.network, basis.nodes,
      basis.straggler == "none" ? "" : absl::StrCat(", stragglers ", basis.straggler),
      basis.compute, basis.compute_measured ? "measured on this machine" : "as given",
      basis.memory_bandwidth);
  return absl::StrCat(
      text, "  overlap: ", Overlaps(),
      "  a round: as many gradients as there are nodes; parameter servers compute none, so that\n"
      "    their rounds are scaled\n"
      "  not compared: ",
      NotCompared(),
      ": nobody waits there, which\n"
      "    costs no time but accuracy, as gradients grow stale. `grapevine compare --sort=target`\n"
      "    compares runs with your model by the time to an accuracy\n"
      "The choice rests on time per round. Gossip averages only partly and may need more rounds\n"
      "for the same loss, the more so the smaller the gap and the more the nodes' data differ:\n"
      "averaging alone takes the rounds to mix (about 1/gap) to leave a tenth of the\n"
      "disagreement. A run of `grapevine sim` with your model and data shows what that costs.\n"
      "Memory is the most that a node's replicas, gradient and optimizer take (--window=1).\n");
}

Json CandidateJson(const CandidateResult& result) {
  Json json;
  json["algorithm"] = result.candidate.algorithm;
  if (!result.candidate.centralized) json["topology"] = result.candidate.topology;
  json["centralized"] = result.candidate.centralized;
  json["seconds_per_round"] = result.seconds;
  json["spectral_gap"] = result.gap;
  json["memory_bytes"] = result.memory;
  // Infinite for a graph that is not connected.
  json["rounds_to_mix"] =
      std::isfinite(result.rounds_to_mix) ? Json(result.rounds_to_mix) : Json(nullptr);
  return json;
}

Json CrossoverJson(const CrossoverSearch& search) {
  Json json;
  json["low"] = search.low;
  json["high"] = search.high;
  json["advantage_low"] = search.advantage_low;
  json["advantage_high"] = search.advantage_high;
  json["crossovers"] = Json::array();
  for (const Crossover& crossover : search.crossovers) {
    json["crossovers"].push_back(
        {{"at", crossover.at}, {"below", Name(crossover.below)}, {"above", Name(crossover.above)}});
  }
  return json;
}

}  // namespace

std::string AdviceText(const ClusterAdvice& advice, const AdviceBasis& basis) {
  std::string text = absl::StrCat(Recommendation(advice.advice), Caution(advice.advice, basis),
                                  "\n", Table(advice), "\n");
  if (advice.bandwidth && advice.latency) {
    absl::StrAppend(
        &text, "Crossovers of the best gossip and the best centralized method\n",
        CrossoverText("bandwidth", "latency", *advice.bandwidth, &Bandwidth),
        CrossoverText("latency", "bandwidth", *advice.latency, &HumanDuration),
        "  only the hosts' own cables vary; links between racks or sites stay as they are\n\n");
  } else {
    absl::StrAppend(&text, "No crossovers: ", advice.no_crossovers, "\n\n");
  }
  return absl::StrCat(text, Basis(basis));
}

std::string AdviceJson(const ClusterAdvice& advice, const AdviceBasis& basis) {
  Json json;
  json["choice"] = CandidateJson(advice.advice.ranking[advice.advice.chosen]);
  json["candidates"] = Json::array();
  for (const CandidateResult& result : advice.advice.ranking) {
    json["candidates"].push_back(CandidateJson(result));
  }
  json["left_out"] = Json::array();
  for (const auto& [candidate, why] : advice.left_out) {
    json["left_out"].push_back(
        {{"candidate", candidate.name()}, {"why", std::string(why.message())}});
  }
  if (advice.bandwidth) json["crossover_bandwidth_bits"] = CrossoverJson(*advice.bandwidth);
  if (advice.latency) json["crossover_latency_s"] = CrossoverJson(*advice.latency);
  json["basis"] = {{"nodes", basis.nodes},
                   {"model", basis.model},
                   {"replica_bytes", basis.replica_bytes},
                   {"network", basis.network},
                   {"compute", basis.compute},
                   {"compute_measured", basis.compute_measured},
                   {"memory_bandwidth", basis.memory_bandwidth},
                   {"straggler", basis.straggler},
                   {"tolerance", kTolerance}};
  if (!basis.split.empty()) json["basis"]["split"] = basis.split;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace grapevine
