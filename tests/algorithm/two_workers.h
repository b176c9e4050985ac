// Two asynchronous workers and a server, whose exchanges happen in the order that a test says.
#ifndef GRAPEVINE_TESTS_ALGORITHM_TWO_WORKERS_H_
#define GRAPEVINE_TESTS_ALGORITHM_TWO_WORKERS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/testing/cluster.h"

namespace grapevine::testing {

// Workers 0 and 1 and a server, 2, which begins at 1; worker i's gradient at x is (i + 1) x.
class TwoWorkers {
 public:
  explicit TwoWorkers(const std::string& algorithm, int window = 1)
      : window_(window),
        cluster_({.algorithm = algorithm,
                  .nodes = 3,
                  .learning_rate = 0.1,
                  .initial = [](Rank, std::span<float> x) { x[0] = 1; },
                  .gradient =
                      [](Rank rank, Round, std::span<const float> x, std::span<float> gradient) {
                        gradient[0] = static_cast<float>(rank + 1) * x[0];
                      },
                  .at_boundary =
                      [this](Rank rank, Round, std::span<const float> model) {
                        if (rank == kServer) weights_.push_back(model[0]);
                      }}) {
    EXPECT_TRUE(cluster_.Begin(100).ok());
  }

  // The worker computes its gradients, and its update reaches the server.
  void Push(Rank worker) {
    for (int i = 0; i < window_; ++i) Take(Cluster::Choice::Kind::kGradient, worker, worker);
    Take(Cluster::Choice::Kind::kOffer, kServer, worker);
    Take(Cluster::Choice::Kind::kMessage, kServer, worker);
  }
  // The server's answer reaches the worker, which begins its next step.
  void Answer(Rank worker) {
    Take(Cluster::Choice::Kind::kMessage, worker, kServer);
    Take(Cluster::Choice::Kind::kSent, kServer, worker);  // it has left
  }

  // The server's, after each update.
  std::vector<float> weights() const { return weights_; }
  int64_t stalest() const { return cluster_.staleness(kServer).greatest(); }

 private:
  static constexpr Rank kServer = 2;

  void Take(Cluster::Choice::Kind kind, Rank node, Rank from) {
    for (const Cluster::Choice& choice : cluster_.Choices()) {
      if (choice.kind != kind || choice.node != node) continue;
      if ((kind == Cluster::Choice::Kind::kOffer || kind == Cluster::Choice::Kind::kMessage) &&
          choice.from != from)
        continue;
      const absl::Status status = cluster_.Take(choice);
      ASSERT_TRUE(status.ok()) << status;
      return;
    }
    FAIL() << "nothing of kind " << static_cast<int>(kind) << " can happen at " << node;
  }

  const int window_;
  std::vector<float> weights_;
  Cluster cluster_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_ALGORITHM_TWO_WORKERS_H_
