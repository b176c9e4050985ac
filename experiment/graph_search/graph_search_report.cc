#include "experiment/graph_search/graph_search_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;

std::string NameOf(const JudgedGraph& judged) { return judged.mixing->topology().name(); }

std::string Table(const GraphSearchResult& result) {
  size_t width = NameOf(result.best).size();
  for (const JudgedGraph& family : result.families) width = std::max(width, NameOf(family).size());
  std::string text =
      absl::StrFormat("%-*s %7s %7s %8s %7s %10s %13s\n", static_cast<int>(width), "", "degree",
                      "period", "rho", "rounds", "a round", "to consensus");
  const auto add = [&](const JudgedGraph& judged) {
    absl::StrAppendFormat(&text, "%-*s %7d %7d %8.3g %7d %10s %13s\n", static_cast<int>(width),
                          NameOf(judged), judged.degree, judged.mixing->topology().period(),
                          judged.shrink, judged.rounds, HumanDuration(judged.seconds_per_round()),
                          HumanDuration(judged.seconds));
  };
  if (!result.best_is_family) add(result.best);
  for (const JudgedGraph& family : result.families) add(family);
  return text;
}

std::string Headline(const GraphSearchResult& result) {
  std::string text = absl::StrCat("take ", result.best_is_family ? "" : "the ", NameOf(result.best),
                                  ": ", HumanDuration(result.best.seconds), " to consensus\n");
  if (result.best_is_family) return text + "  nothing faster was found\n";
  if (!result.best_family) return text + "  none of the others is within what was asked for\n";
  const JudgedGraph& other = result.families[*result.best_family];
  absl::StrAppendFormat(&text, "  %.3g times as fast as %s, the best of the others%s (%s)\n",
                        other.seconds / result.best.seconds, NameOf(other),
                        *result.best_family > 0 ? " within what was asked for" : "",
                        HumanDuration(other.seconds));
  return text;
}

std::string Basis(const GraphSearchResult& result, const GraphSearchBasis& basis) {
  return absl::StrFormat(
      "consensus: a thousandth of the disagreement is left, whatever the replicas were\n"
      "a round, to consensus: simulated time of dpsgd, the mean and all of the rounds\n"
      "degree: the most replicas that a node sends in a round (%s); rho: what a round\n"
      "  leaves of the disagreement in the long run\n"
      "nodes: %d; model: %s, replicas of %s; compute: %s a gradient\n"
      "network: %s; rates are goodput\n"
      "graphs simulated: %d\n",
      basis.degree > 0 ? absl::StrCat("at most ", basis.degree) : "no limit given", basis.nodes,
      basis.model, HumanSize(result.replica_bytes), basis.compute, result.network,
      result.simulations);
}

Json GraphJson(const JudgedGraph& judged) {
  Json json;
  json["topology"] = NameOf(judged);
  json["degree"] = judged.degree;
  json["period"] = judged.mixing->topology().period();
  json["rho"] = judged.shrink;
  json["rounds"] = judged.rounds;
  json["seconds_per_round"] = judged.seconds_per_round();
  json["seconds"] = judged.seconds;
  return json;
}

// Returns [from, to, weight] of every message, round by round.
Json RoundsJson(const Mixing& mixing) {
  Json rounds = Json::array();
  MixingRow row;
  for (Round round = 0; round < mixing.topology().period(); ++round) {
    Json messages = Json::array();
    for (Rank to = 0; to < mixing.topology().size(); ++to) {
      mixing.Row(to, round, &row);
      for (const auto& [from, weight] : row.in) messages.push_back({from, to, weight});
    }
    rounds.push_back(std::move(messages));
  }
  return rounds;
}

}  // namespace

std::string GraphSearchText(const GraphSearchResult& result, const GraphSearchBasis& basis) {
  return absl::StrCat(Headline(result), "\n", Table(result), "\n", Basis(result, basis));
}

std::string GraphSearchJson(const GraphSearchResult& result, const GraphSearchBasis& basis) {
  Json json;
  json["best"] = GraphJson(result.best);
  json["best"]["messages"] = RoundsJson(*result.best.mixing);
  json["families"] = Json::array();
  for (const JudgedGraph& family : result.families) json["families"].push_back(GraphJson(family));
  json["best_family"] =
      result.best_family ? Json(NameOf(result.families[*result.best_family])) : Json(nullptr);
  json["basis"] = {{"nodes", basis.nodes},
                   {"model", basis.model},
                   {"replica_bytes", result.replica_bytes},
                   {"network", result.network},
                   {"compute", basis.compute},
                   {"degree", basis.degree},
                   {"fixed", basis.fixed},
                   {"consensus", kConsensus},
                   {"simulations", result.simulations}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace grapevine
