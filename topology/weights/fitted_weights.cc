#include "topology/weights/fitted_weights.h"

#include <glog/logging.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "topology/stored_graph.h"
#include "topology/stored_schedule.h"
#include "topology/weights/stored_mixing.h"

namespace grapevine {
namespace {

using Matrix = Eigen::MatrixXd;
using Rounds = std::vector<WeightedRound>;

// Returns W - 11'/n of a round.
Matrix Deviation(Rank n, const WeightedRound& round) {
  Matrix matrix = Matrix::Constant(n, n, -1.0 / n);
  matrix.diagonal().array() += 1;
  for (const auto& [a, b, weight] : round) {
    matrix(a, b) += weight;
    matrix(b, a) += weight;
    matrix(a, a) -= weight;
    matrix(b, b) -= weight;
  }
  return matrix;
}

std::vector<Matrix> Deviations(Rank n, const Rounds& rounds) {
  std::vector<Matrix> deviations;
  for (const WeightedRound& round : rounds) deviations.push_back(Deviation(n, round));
  return deviations;
}

// Slopes by round and by edge.
using Slopes = std::vector<std::vector<double>>;

// Returns the slopes of the logarithm of the norm, along which the norm falls alike however large
// it is.
Slopes SlopesOf(Rank n, const Rounds& rounds, Round horizon) {
  const std::vector<Matrix> deviations = Deviations(n, rounds);
  const auto at = [&](Round round) { return round % static_cast<Round>(rounds.size()); };
  std::vector<Matrix> before = {Matrix::Identity(n, n)};  // the product of the rounds before each
  for (Round round = 0; round < horizon; ++round) {
    before.push_back(deviations[at(round)] * before.back());
  }
  Slopes slopes;
  for (const WeightedRound& round : rounds) slopes.emplace_back(round.size(), 0);
  Matrix back = before.back() / std::max(before.back().squaredNorm(), 1e-300);
  for (Round round = horizon - 1; round >= 0; --round) {
    const Matrix slope = back * before[round].transpose();
    const WeightedRound& edges = rounds[at(round)];
    for (size_t i = 0; i < edges.size(); ++i) {
      const auto [a, b, weight] = edges[i];
      slopes[at(round)][i] += slope(a, b) + slope(b, a) - slope(a, a) - slope(b, b);
    }
    back = deviations[at(round)].transpose() * back;
  }
  return slopes;
}

double LargestOf(const Slopes& slopes) {
  double largest = 0;
  for (const std::vector<double>& round : slopes) {
    for (const double slope : round) largest = std::max(largest, std::abs(slope));
  }
  return largest;
}

Rounds Moved(Rank n, Rounds rounds, const Slopes& slopes, double step) {
  for (size_t round = 0; round < rounds.size(); ++round) {
    for (size_t i = 0; i < rounds[round].size(); ++i) {
      rounds[round][i].weight -= step * slopes[round][i];
    }
    MakeFeasible(n, &rounds[round]);
  }
  return rounds;
}

MixingRows RowsOf(Rank n, const WeightedRound& round) {
  MixingRows rows(n);
  for (const auto& [a, b, weight] : round) {
    rows[a].in.push_back({b, weight});
    rows[b].in.push_back({a, weight});
    rows[a].self -= weight;
    rows[b].self -= weight;
  }
  constexpr double kRounding = 1e-9;
  for (MixingRow& row : rows) {
    std::ranges::sort(row.in, {}, &Neighbour::rank);
    CHECK_GE(row.self, -kRounding) << "a node's weights sum to more than 1";
    row.self = std::max(row.self, 0.0);  // rounding may have left it below 0
  }
  return rows;
}

}  // namespace

void MakeFeasible(Rank n, WeightedRound* round) {
  std::vector<double> sums(n, 0);
  for (auto& [a, b, weight] : *round) {
    weight = std::max(weight, 0.0);
    sums[a] += weight;
    sums[b] += weight;
  }
  for (auto& [a, b, weight] : *round) weight /= std::max({1.0, sums[a], sums[b]});
}

double Disagreement(Rank n, const Rounds& rounds, Round horizon) {
  const std::vector<Matrix> deviations = Deviations(n, rounds);
  Matrix product = Matrix::Identity(n, n);
  for (Round round = 0; round < horizon; ++round) {
    product = deviations[round % static_cast<Round>(rounds.size())] * product;
  }
  return product.norm();
}

Rounds FitWeights(Rank n, Rounds rounds, const WeightFit& fit) {
  constexpr double kFirstStep = 0.1, kGrowth = 1.5, kLeastStep = 1e-5;
  for (WeightedRound& round : rounds) MakeFeasible(n, &round);
  double best = Disagreement(n, rounds, fit.horizon);
  double step = kFirstStep;  // change of the weight that changes most
  Slopes slopes = SlopesOf(n, rounds, fit.horizon);
  for (int i = 0; i < fit.steps && step > kLeastStep; ++i) {
    const double largest = LargestOf(slopes);
    if (largest == 0) break;
    Rounds moved = Moved(n, rounds, slopes, step / largest);
    const double now = Disagreement(n, moved, fit.horizon);
    if (now >= best) {
      step /= 2;
      continue;
    }
    best = now;
    rounds = std::move(moved);
    step *= kGrowth;
    slopes = SlopesOf(n, rounds, fit.horizon);
  }
  return rounds;
}

void SetMetropolis(Rank n, WeightedRound* round) {
  std::vector<int> degrees(n, 0);
  for (const WeightedEdge& edge : *round) {
    ++degrees[edge.a];
    ++degrees[edge.b];
  }
  for (auto& [a, b, weight] : *round) weight = 1.0 / (1 + std::max(degrees[a], degrees[b]));
}

std::shared_ptr<const Mixing> MakeWeighted(const std::string& name, Rank n, const Rounds& rounds) {
  std::vector<std::vector<Edge>> edges;
  std::vector<MixingRows> rows;
  for (const WeightedRound& round : rounds) {
    edges.emplace_back();
    for (const WeightedEdge& edge : round) edges.back().push_back({edge.a, edge.b});
    rows.push_back(RowsOf(n, round));
  }
  return MakeStoredMixing(name, MakeStoredSchedule(name, n, std::move(edges), /*directed=*/false),
                          std::move(rows));
}

}  // namespace grapevine
