#include "topology/spectrum/topology_json.h"

#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;

// Real eigenvalues as numbers, complex ones as [re, im].
Json EigenvaluesJson(const Spectrum& spectrum) {
  if (spectrum.eigenvalues.empty()) return nullptr;
  Json values = Json::array();
  for (const std::complex<double>& value : spectrum.eigenvalues) {
    if (value.imag() == 0) {
      values.push_back(value.real());
    } else {
      values.push_back({value.real(), value.imag()});
    }
  }
  return values;
}

void AddSpectrum(const Spectrum& spectrum, Json* json) {
  (*json)["rho"] = spectrum.rho;
  (*json)["spectral_gap"] = spectrum.gap();
  (*json)["eigenvalues"] = EigenvaluesJson(spectrum);
  (*json)["method"] = MethodName(spectrum.method);
  if (spectrum.method == Spectrum::Method::kLanczos) (*json)["residual"] = spectrum.residual;
}

Json Properties(const TopologySummary& summary) {
  Json json = {{"topology", summary.topology},
               {"mixing", summary.mixing},
               {"nodes", summary.nodes},
               {"directed", summary.directed},
               {"period", summary.period},
               {"round", summary.round},
               {"degree", summary.degree_max},
               {"degree_min", summary.degree_min},
               {"degree_mean", summary.degree_mean}};
  AddSpectrum(summary.spectrum, &json);
  json["exact"] = summary.exact;
  json["rounds_to_tenth"] =
      std::isinf(summary.rounds_to_tenth) ? Json(nullptr) : Json(summary.rounds_to_tenth);
  if (summary.product) {
    json["rho_by_round"] = summary.rho_by_round;
    AddSpectrum(*summary.product, &json["period_product"]);
  }
  if (summary.contraction) json["expected_contraction"] = *summary.contraction;
  return json;
}

}  // namespace

const char* MethodName(Spectrum::Method method) {
  switch (method) {
    case Spectrum::Method::kClosedForm:
      return "closed form";
    case Spectrum::Method::kDense:
      return "dense";
    case Spectrum::Method::kLanczos:
      break;
  }
  return "lanczos";
}

absl::Status WriteTopologyJson(const TopologySummary& summary, const Topology& topology,
                               const TextSink& sink) {
  std::string head = Properties(summary).dump();
  head.back() = ',';
  absl::Status status = sink(head + "\"edges\":[");
  const char* separator = "";
  if (status.ok()) {
    status = ForEachEdge(topology, summary.round, [&](Rank from, Rank to) {
      const std::string edge = absl::StrCat(separator, "[", from, ",", to, "]");
      separator = ",";
      return sink(edge);
    });
  }
  return status.ok() ? sink("]}") : status;
}

}  // namespace grapevine
