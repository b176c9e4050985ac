#include "topology/spectrum/summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"

namespace grapevine {
namespace {

// What rounding leaves of an eigenvalue 0, or takes from one of 1.
constexpr double kExact = 1e-12;

void DescribeGraph(const Topology& topology, TopologySummary* summary) {
  const Rank n = topology.size();
  int64_t ends = 0;
  summary->degree_min = topology.Degree(0, summary->round);
  for (Rank rank = 0; rank < n; ++rank) {
    const Rank degree = topology.Degree(rank, summary->round);
    summary->degree_min = std::min(summary->degree_min, degree);
    summary->degree_max = std::max(summary->degree_max, degree);
    ends += degree;
  }
  summary->edges = topology.directed() ? ends : ends / 2;
  summary->degree_mean = static_cast<double>(ends) / n;
}

// Of `rounds` rounds together.
void SetPace(const Spectrum& spectrum, Round rounds, TopologySummary* summary) {
  // Closed forms know gaps of any size.
  const bool never = spectrum.method != Spectrum::Method::kClosedForm && spectrum.rho > 1 - kExact;
  const double rho = never ? 1 : spectrum.rho;
  summary->exact = rho < kExact;
  summary->shrink = std::pow(rho, 1.0 / static_cast<double>(rounds));
  summary->rounds_to_tenth =
      summary->exact ? static_cast<double>(rounds) : RoundsToTenth(summary->shrink);
}

void DescribeEndless(const Mixing& mixing, TopologySummary* summary) {
  summary->contraction = ExpectedContraction(mixing);
  summary->shrink = std::sqrt(*summary->contraction);
  summary->rounds_to_tenth = RoundsToTenth(summary->shrink);
}

absl::Status DescribePeriod(const Mixing& mixing, TopologySummary* summary) {
  for (Round round = 0; round < summary->period; ++round) {
    ASSIGN_OR_RETURN(const auto spectrum, RoundSpectrum(mixing, round));
    summary->rho_by_round.push_back(spectrum.rho);
  }
  ASSIGN_OR_RETURN(auto product, PeriodSpectrum(mixing));
  SetPace(product, summary->period, summary);
  summary->product = std::move(product);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TopologySummary> Summarize(const Mixing& mixing, Round round) {
  const Topology& topology = mixing.topology();
  TopologySummary summary;
  summary.topology = topology.name();
  summary.mixing = mixing.name();
  summary.nodes = topology.size();
  summary.directed = topology.directed();
  summary.period = topology.period();
  summary.round = round;
  DescribeGraph(topology, &summary);
  ASSIGN_OR_RETURN(summary.spectrum, RoundSpectrum(mixing, round));
  if (summary.period == 1) {
    SetPace(summary.spectrum, 1, &summary);
  } else if (summary.period == 0) {
    DescribeEndless(mixing, &summary);
  } else if (absl::Status status = DescribePeriod(mixing, &summary); !status.ok()) {
    return status;
  }
  return summary;
}

}  // namespace grapevine
