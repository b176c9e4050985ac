// D-PSGD as its formula states it: a loop over W in double precision, for the quadratics f_i(x) =
// |x - b_i|^2 / 2. Real runs are compared with it.
//
// Stateless.
#ifndef GRAPEVINE_TESTS_TESTING_DPSGD_LOOP_H_
#define GRAPEVINE_TESTS_TESTING_DPSGD_LOOP_H_

#include <functional>
#include <vector>

#include "base/ids.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {

// By rank, then element.
using Replicas = std::vector<std::vector<double>>;

struct DpsgdLoop {
  std::function<Matrix(Round)> w;
  bool atc = false;  // adapt, then combine
  double learning_rate = 0.05;
  double momentum = 0.9;  // v <- momentum v + gradient; the step is learning_rate v
  Replicas optima;        // the b_i
};

// The replicas after so many rounds from `start`.
Replicas After(Round rounds, const DpsgdLoop& loop, Replicas start);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_DPSGD_LOOP_H_
