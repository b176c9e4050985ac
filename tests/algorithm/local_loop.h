// Methods with local steps as their formulas state them: loops over the replicas in double
// precision, for the quadratics f_i(x) = |x - b_i|^2 / 2, beside clusters that run the methods.
//
// Stateless.
#ifndef GRAPEVINE_TESTS_ALGORITHM_LOCAL_LOOP_H_
#define GRAPEVINE_TESTS_ALGORITHM_LOCAL_LOOP_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "tests/testing/cluster.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {

struct LocalLoop {
  static constexpr int64_t kParameters = 19;
  static constexpr int64_t kBuffers = 5;  // which are only averaged
  static constexpr int64_t kElements = kParameters + kBuffers;
  static constexpr Round kRounds = 26;
  static constexpr double kRate = 0.05;
  static constexpr double kMomentum = 0.9;
  static constexpr double kBufferMomentum = 0.1;  // of the driver

  // Of one parameter of a node at an exchange: where its local steps began, the averages of what
  // all nodes have, and its outer momentum.
  struct AtExchange {
    double anchor, replica_average, anchor_average;
    double* momentum;
  };
  // The parameter after the exchange.
  using Exchange = std::function<double(const AtExchange&)>;

  Rank nodes;
  int64_t every;                     // rounds from one exchange to the next
  std::function<Matrix(int64_t)> w;  // the weights of an exchange
  Exchange exchange;
};

// 1/n everywhere.
Matrix UniformWeights(Rank nodes);
Replicas Averaged(const Matrix& w, const Replicas& x);
// RandomStart of each node.
Replicas RandomStarts(Rank nodes);

// One step of SGD with momentum from `at`, which may be another point than `x`.
void LocalStep(Rank rank, const std::vector<double>& at, std::vector<double>* x,
               std::vector<double>* velocity);

// The replicas after LocalLoop::kRounds rounds from RandomStarts.
Replicas Trained(const LocalLoop& loop);

// A cluster that trains as the loop does.
ClusterOptions LikeLoop(const std::string& algorithm, Rank nodes);
void ExpectReplicas(const ClusterOptions& options, const Replicas& expected, double tolerance);

// The same on every node.
void EqualStart(Rank rank, std::span<float> x);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_ALGORITHM_LOCAL_LOOP_H_
