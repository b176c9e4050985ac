#include "cli/commands/doctor_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "report/table.h"

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;

std::string RateWords(const std::optional<double>& bits) {
  return bits ? absl::StrCat(FormatBandwidth(ThreeDigits(std::llround(*bits))), "/s") : "-";
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> LatencySeconds(const SurveyedEdge& edge) {
  const std::optional<std::chrono::nanoseconds> latency = LatencyOf(edge.echoes);
  if (!latency) return std::nullopt;
  return Seconds(*latency);
}

std::string EdgesText(const Survey& survey) {
  Table table{.header = {"from", "to", "latency", "alone", "all at once"}, .rows = {}};
  for (const SurveyedEdge& edge : survey.edges) {
    const std::optional<double> latency = LatencySeconds(edge);
    table.rows.push_back({survey.hosts[edge.hosts.first].name, survey.hosts[edge.hosts.second].name,
                          latency ? HumanDuration(*latency) : "-", RateWords(RateOf(edge.alone)),
                          RateWords(RateOf(edge.together))});
  }
  return absl::StrCat("\n", TableText(table, TableFormat::kText));
}

Json HostJson(const SurveyedHost& host) {
  Json json = {{"name", host.name}, {"ranks", host.ranks}, {"answers", host.facts.has_value()}};
  if (host.clock) {
    json["clock_ahead_s"] = Seconds(host.clock->ahead);
    json["clock_error_s"] = Seconds(host.clock->error);
  }
  if (!host.facts) return json;
  json["processor"] = host.facts->processor();
  json["instruction_sets"] =
      std::vector<std::string>(host.facts->features().begin(), host.facts->features().end());
  json["cores"] = host.facts->cores();
  json["descriptors"] = host.facts->descriptors();
  json["memory_bytes"] = host.facts->memory();
  return json;
}

}  // namespace

std::string DoctorText(const Survey& survey, const std::vector<Finding>& findings) {
  Table table{.header = {"check", "verdict", "who", "found", "what to do"}, .rows = {}};
  for (const Finding& finding : findings) {
    table.rows.push_back({finding.check, std::string(SeverityName(finding.severity)), finding.who,
                          finding.found, finding.remedy});
  }
  std::string text = TableText(table, TableFormat::kText);
  if (!survey.edges.empty()) text += EdgesText(survey);
  return text;
}

std::string DoctorJson(const Survey& survey, const std::vector<Finding>& findings) {
  Json json = {{"verdict", SeverityName(WorstOf(findings))}, {"all_pairs", survey.all_pairs}};
  json["hosts"] = Json::array();
  for (const SurveyedHost& host : survey.hosts) json["hosts"].push_back(HostJson(host));
  json["findings"] = Json::array();
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"check", finding.check},
                                {"verdict", SeverityName(finding.severity)},
                                {"who", finding.who},
                                {"found", finding.found},
                                {"remedy", finding.remedy}});
  }
  json["edges"] = Json::array();
  for (const SurveyedEdge& edge : survey.edges) {
    json["edges"].push_back({{"from", survey.hosts[edge.hosts.first].name},
                             {"to", survey.hosts[edge.hosts.second].name},
                             {"latency_s", OrNull(LatencySeconds(edge))},
                             {"bits_per_second", OrNull(RateOf(edge.alone))},
                             {"bits_per_second_together", OrNull(RateOf(edge.together))}});
  }
  // A host's name for its processor need not be UTF-8.
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

MeasuredNetwork MeasuredNetworkOf(const Survey& survey) {
  MeasuredNetwork network;
  for (const SurveyedHost& host : survey.hosts) network.hosts.push_back(host.name);
  for (const SurveyedEdge& edge : survey.edges) {
    const std::optional<double> alone = RateOf(edge.alone);
    const std::optional<std::chrono::nanoseconds> latency = LatencyOf(edge.echoes);
    if (!alone || !latency) continue;
    network.edges.push_back({.from = edge.hosts.first,
                             .to = edge.hosts.second,
                             .alone = *alone,
                             .together = RateOf(edge.together),
                             .latency = *latency});
  }
  return network;
}

}  // namespace grapevine
