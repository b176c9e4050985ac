// How nodes learn together: a state machine without I/O.
//
// Events go in, requests to the host come out. An algorithm reads no clock,
// owns no thread, opens no socket and touches no memory of a vector; node/ and
// sim/ drive the same object. It never branches on the contents of a vector.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_ALGORITHM_H_
#define GRAPEVINE_ALGORITHM_ALGORITHM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// A message that an algorithm still waits for, to arrive or to be taken by the
// peer: for the report of one that went silent.
struct Waiting {
  Rank peer;
  Tag tag;
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Errors are protocol violations by the driver or a peer: they name the
  // event and end the run.
  virtual absl::Status On(const Event& event, Host& host) = 0;

  // The round now under way (the number of completed rounds).
  virtual Round round() const = 0;
  // The messages without which the current round cannot end.
  virtual std::vector<Waiting> waiting_for() const = 0;
  // The ranks that exchange messages with this node in [from, to): connections
  // to dial ahead. Ascending, without repetition.
  virtual std::vector<Rank> Peers(Round from, Round to) const = 0;
};

// How the learning rate depends on the round (optim/schedule.h makes one).
using LearningRate = std::function<double(Round)>;

struct AlgorithmOptions {
  Rank rank = 0;
  std::shared_ptr<const Mixing> mixing;  // also gives the number of nodes
  LearningRate learning_rate;
  // Rounds for which D-PSGD posts receive buffers. 1 keeps memory at (largest in-degree
  // + 4) replicas; 2 hides the credit's latency for as many replicas more.
  int window = 1;
};

// What `spec` names ("NAME:key=value") among the registered algorithms
// (algorithm/algorithm_kind.h). Errors name the spec and what is known, or the nearest
// value that works.
absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view spec,
                                                         AlgorithmOptions options);

// Whether all nodes average exactly in every round, by messages that go everywhere, so
// that the topology plays no part. Not of an algorithm that this program does not know.
bool IsCentralized(std::string_view spec);

// How many of `nodes` compute gradients and hold a model: all, but for
// servers. Workers are the ranks from 0 on; data, averages and the
// global batch are theirs alone. Errors as MakeAlgorithm's, where servers leave no
// worker.
absl::StatusOr<Rank> WorkerCount(std::string_view spec, Rank nodes);

// How many messages all nodes send in a round of `topology`: what simulating it costs. Of
// an allreduce on more than some hundreds of nodes an estimate. Errors as MakeAlgorithm's.
absl::StatusOr<double> MessagesPerRound(std::string_view spec, const Topology& topology);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_H_
