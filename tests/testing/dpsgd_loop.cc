#include "tests/testing/dpsgd_loop.h"

#include <utility>

namespace grapevine::testing {

Replicas After(Round rounds, const DpsgdLoop& loop, Replicas start) {
  Replicas x = std::move(start);
  const size_t nodes = x.size(), elements = x[0].size();
  Replicas velocity(nodes, std::vector<double>(elements)), step = velocity, next = velocity;
  for (Round round = 0; round < rounds; ++round) {
    const Matrix w = loop.w(round);
    for (size_t i = 0; i < nodes; ++i) {
      for (size_t e = 0; e < elements; ++e) {
        velocity[i][e] = loop.momentum * velocity[i][e] + (x[i][e] - loop.optima[i][e]);
        step[i][e] = loop.learning_rate * velocity[i][e];
      }
    }
    for (size_t i = 0; i < nodes; ++i) {
      for (size_t e = 0; e < elements; ++e) {
        next[i][e] = loop.atc ? 0 : -step[i][e];
        for (size_t j = 0; j < nodes; ++j) {
          next[i][e] += w[i][j] * (x[j][e] - (loop.atc ? step[j][e] : 0));
        }
      }
    }
    x = next;
  }
  return x;
}

}  // namespace grapevine::testing
