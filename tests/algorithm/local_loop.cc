#include "tests/algorithm/local_loop.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "tests/algorithm/quadratics.h"

namespace grapevine::testing {

Matrix UniformWeights(Rank nodes) { return Matrix(nodes, std::vector<double>(nodes, 1.0 / nodes)); }

Replicas Averaged(const Matrix& w, const Replicas& x) {
  Replicas average(x.size(), std::vector<double>(x[0].size()));
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) {
      for (size_t e = 0; e < x[i].size(); ++e) average[i][e] += w[i][j] * x[j][e];
    }
  }
  return average;
}

Replicas RandomStarts(Rank nodes) {
  Replicas start;
  for (Rank rank = 0; rank < nodes; ++rank) {
    std::vector<float> x(LocalLoop::kElements);
    RandomStart(rank, x);
    start.emplace_back(x.begin(), x.end());
  }
  return start;
}

void LocalStep(Rank rank, const std::vector<double>& at, std::vector<double>* x,
               std::vector<double>* velocity) {
  for (int64_t e = 0; e < LocalLoop::kElements; ++e) {
    const double gradient = at[e] - UnlikeOptimum(rank);
    if (e < LocalLoop::kParameters) {
      (*velocity)[e] = LocalLoop::kMomentum * (*velocity)[e] + gradient;
      (*x)[e] -= LocalLoop::kRate * (*velocity)[e];
    } else {
      (*x)[e] += LocalLoop::kBufferMomentum * (gradient - (*x)[e]);
    }
  }
}

Replicas Trained(const LocalLoop& loop) {
  Replicas x = RandomStarts(loop.nodes), anchor = x;
  Replicas velocity(loop.nodes, std::vector<double>(LocalLoop::kElements)), momentum = velocity;
  for (Round round = 0; round < LocalLoop::kRounds; ++round) {
    const Replicas before = x;
    for (Rank i = 0; i < loop.nodes; ++i) LocalStep(i, before[i], &x[i], &velocity[i]);
    if ((round + 1) % loop.every != 0) continue;
    const Matrix w = loop.w(round / loop.every);
    const Replicas replicas = Averaged(w, x), anchors = Averaged(w, anchor);
    for (Rank i = 0; i < loop.nodes; ++i) {
      for (int64_t e = 0; e < LocalLoop::kElements; ++e) {
        x[i][e] = e < LocalLoop::kParameters ? loop.exchange({.anchor = anchor[i][e],
                                                              .replica_average = replicas[i][e],
                                                              .anchor_average = anchors[i][e],
                                                              .momentum = &momentum[i][e]})
                                             : replicas[i][e];
      }
    }
    anchor = x;
  }
  return x;
}

ClusterOptions LikeLoop(const std::string& algorithm, Rank nodes) {
  return {.algorithm = algorithm,
          .nodes = nodes,
          .parameters = LocalLoop::kParameters,
          .buffers = LocalLoop::kBuffers,
          .learning_rate = LocalLoop::kRate,
          .momentum = LocalLoop::kMomentum,
          .length = {.rounds = LocalLoop::kRounds},
          .initial = RandomStart,
          .gradient = Quadratic(1, 0, 1, UnlikeOptimum)};
}

void ExpectReplicas(const ClusterOptions& options, const Replicas& expected, double tolerance) {
  SCOPED_TRACE(::testing::Message() << options.algorithm << " on " << options.topology << " of "
                                    << options.nodes << ", order seed " << options.order_seed);
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(LocalLoop::kRounds).ok());
  for (Rank rank = 0; rank < options.nodes; ++rank) {
    for (int64_t e = 0; e < LocalLoop::kElements; ++e) {
      ASSERT_NEAR(cluster.replica(rank)[e], expected[rank][e], tolerance)
          << "rank " << rank << ", element " << e;
    }
  }
}

void EqualStart(Rank, std::span<float> x) {
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i) - 1;
}

}  // namespace grapevine::testing
