// n algorithms on one thread, their messages delivered in a seeded random order: the smallest
// possible driver, for tests of what must hold in any order.
//
// Whatever was posted may arrive next, whatever a node waits for may happen next. There is no
// time. Where nodes do not go through rounds together, they share a budget of as many gradients as
// that many rounds have, and the answer to a node's report may come at any time.
#ifndef GRAPEVINE_TESTS_TESTING_CLUSTER_H_
#define GRAPEVINE_TESTS_TESTING_CLUSTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/async_gradients.h"
#include "algorithm/membership/view_agreement.h"
#include "algorithm/membership/view_mixing.h"
#include "kernels/vector/replica_layout.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"
#include "run/checkpoint/node_state.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {

struct ClusterOptions {
  std::string algorithm = "dpsgd";
  // If set, makes the algorithm instead.
  std::function<std::unique_ptr<Algorithm>(const AlgorithmOptions&)> make_algorithm;
  std::string topology = "ring";
  std::string mixing = "metropolis";
  Rank nodes = 8;
  int64_t parameters = 1;
  int64_t buffers = 0;
  double learning_rate = 0.1;
  double momentum = 0;
  std::string optimizer = "sgd";
  int window = 1;
  RunLength length = {};
  // With `make_algorithm`: the trait of its kind (algorithm_kind.h).
  bool rounds = true;
  uint64_t seed = 1;        // of the topology and of an algorithm's choices
  uint64_t order_seed = 1;  // of the order of events
  // Starting replica of a node; zeros when absent.
  std::function<void(Rank, std::span<float>)> initial;
  // The gradient of a node in a round at x.
  std::function<void(Rank, Round, std::span<const float> x, std::span<float> gradient)> gradient;
  // Nodes begin in this round.
  Round begin = 0;
  // Nodes go on without those that are lost (Kill).
  bool resilient = false;
  // If set, each begins with its own of these states, which are of that round; or, where nodes
  // share a budget, of as many of its own steps as it says.
  std::vector<NodeState> resume = {};
  // At this boundary every node's state is taken.
  Round save_at = -1;
  // Called at every boundary.
  std::function<void(Rank, Round, std::span<const float>)> at_boundary;
  // Called when a node begins a view, with the replica that it begins it with.
  std::function<void(Rank, const View&, std::span<const float>)> at_view;
  // Every request and event of a node, in words: what tests/scenarios shows.
  std::function<void(Rank, const std::string& what)> transcript;
};

class Cluster {
 public:
  // CHECK-fails on unknown specs.
  explicit Cluster(ClusterOptions options);
  ~Cluster();

  // Runs until every node rests at `limit`, and the budget is used up, if there is one. An error
  // names what a stuck node waits for.
  absl::Status Run(Round limit);

  // The same step by step, for callers that choose the order. Moves the limit; the first call
  // starts the nodes.
  absl::Status Begin(Round limit);
  // What can happen next: a node learns that part of a gradient is computed, that a message has
  // left or that its send has ended, oldest first; a message arrives for which a buffer is posted;
  // an offer arrives for which none is; a post that was withdrawn is lost, which may race with its
  // message; a node hears that its own limit has moved. Of membership: a death is noticed, a node
  // hears what is agreed upon, its answer arrives.
  struct Choice {
    enum class Kind {
      kGradient,
      kSent,
      kMessage,
      kOffer,
      kLoss,
      kLimit,
      kDetection,
      kDecree,
      kPromise
    };
    Kind kind;
    Rank node;
    Rank from = 0;  // of a message, an offer or a post
    Tag tag = {};
  };
  std::vector<Choice> Choices() const;
  // One that comes in and cannot have a model dies.
  absl::Status Take(const Choice& choice);
  // The message is lost: it has left, and nobody gets it.
  void Lose(const Choice& message);
  // The node does nothing from now on. What it has sent may still arrive, until the others have
  // agreed to go on without it.
  void Kill(Rank rank);
  // Another process takes the place of a node that is dead, and wants to come in; it is alive once
  // the others have agreed, if a round is left.
  void Join(Rank rank);
  // All go over to a view with the same members, for that checkpoint: each node's state is taken.
  void Renew(Round checkpoint);
  bool alive(Rank rank) const;
  // Whether it has a model: one that comes in has none before it has received all of it.
  bool has_model(Rank rank) const;
  // Whether it has come in since the run began.
  bool came_in(Rank rank) const;
  // The latest view that was agreed upon, of resilient nodes.
  const View& view() const { return agreement_->view(); }

  // The states of all nodes at options.save_at, or of the last checkpoint, once all of them are
  // there.
  std::vector<NodeState> saved() const;
  // That of one of them.
  const NodeState& saved(Rank rank) const;

  bool resting(Rank rank) const;
  const Algorithm& algorithm(Rank rank) const;

  // The model of a node; empty for a parameter server.
  std::span<const float> replica(Rank rank) const;
  // Over the workers.
  std::vector<double> Mean() const;
  // (1/n) sum_i |x_i - mean|^2, over the workers.
  double ConsensusDistance() const;
  // The most rounds that any node was ever ahead of a neighbour.
  Round largest_lead() const;
  // Vectors alive at `rank`.
  size_t live_vectors(Rank rank) const;
  // The most memory that the vectors of `rank` ever took, including those in flight.
  int64_t vector_bytes(Rank rank) const;
  int64_t bytes_sent(Rank rank) const;
  // How stale the gradients were that `rank` applied (Host::GradientApplied).
  const Staleness& staleness(Rank rank) const;

 private:
  class Node;

  std::unique_ptr<Algorithm> MakeNode(const AlgorithmOptions& options) const;
  AlgorithmOptions OptionsOf(Rank rank) const;
  std::unique_ptr<Algorithm> MakeResilient(Rank rank);
  // The limit of a node.
  Round LimitOf(Rank rank) const;
  // No node does so many rounds, or steps.
  Round StepLimit() const { return budget_ ? limit_ * workers_ : limit_; }
  // What a lost worker has not done is for the others.
  void LeaveBudget(Rank rank);
  // Tells everybody left what was agreed upon since.
  void SendDecrees();

  ClusterOptions options_;
  ReplicaLayout layout_;
  std::unique_ptr<Optimizer> optimizer_;
  KeyedRandom order_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::shared_ptr<const Mixing> mixing_;
  std::unique_ptr<ViewMixing> mixings_;       // of resilient nodes
  std::unique_ptr<ViewAgreement> agreement_;  // likewise
  std::deque<View> views_;                    // all that were agreed upon
  Rank workers_ = 0;                          // the ranks from 0 on that hold a model
  bool rounds_ = true;
  std::unique_ptr<GradientBudget> budget_;  // that nodes share; null: none
  Round largest_lead_ = 0;
  bool started_ = false;
  Round limit_ = 0;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_CLUSTER_H_
