// The interface of an algorithm, by which nodes learn together: a state machine without I/O.
//
// Events go in, requests to the host come out. An algorithm reads no clock, owns no thread, opens
// no socket and touches no memory of a vector; node/ and sim/ drive the same object. It never
// branches on the contents of a vector.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_ALGORITHM_H_
#define GRAPEVINE_ALGORITHM_ALGORITHM_H_

#include <algorithm>
#include <cstdint>
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

// A message that an algorithm still waits for: either it must arrive, or the peer must take it.
// Drivers report it when the peer falls silent.
struct Waiting {
  Rank peer;
  Tag tag;
};

// Returns an error for Offered, Lost, Prepare and ViewChanged, and OK for all other events. For
// algorithms that foresee all their messages and whose members never change. The error names the
// peer and the message, if the event has any.
absl::Status CheckForeseen(const Event& event);

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Handles `event` and makes requests to `host`. Errors are protocol violations by the driver or
  // by a peer: they name the event and end the run.
  virtual absl::Status On(const Event& event, Host& host) = 0;

  // Shows `state` everything that the algorithm keeps from one round to the next. Called by the
  // driver during Host::Boundary or at rest, and by the algorithm itself during Start. The default
  // returns an error: an algorithm that does not show its state cannot be checkpointed.
  virtual absl::Status VisitState(StateVisitor& state, Host& host);

  // Returns whether an instance gives up its current round as soon as members change (GiveUp),
  // instead of going through the rounds before the next view's first one. Matters where members may
  // be lost. True if a round comes to nothing when a member is lost in it, as a sum over all
  // members does, or if nodes do not go through rounds together. Messages of such an instance are
  // offered (Host::Offer), so that its sends end even if the receiver has given up.
  virtual bool gives_way() const { return false; }
  // Ends what is under way, such as the round, without its result. For algorithms that give way.
  // Withdraws posts that nobody will fill; the caller declines offers. Finishes what cannot be
  // undone. Once nothing is in flight, the algorithm comes to rest for good.
  virtual void GiveUp(Host&) {}
  // Returns the round in which the algorithm comes to rest, once it has given up.
  virtual Round rests_in() const { return round(); }
  // Returns whether the algorithm takes leave of its peers after it has given up. If so, its nodes
  // go through every view, and it accepts what peers offer until it rests.
  virtual bool takes_leave() const { return false; }

  // Takes in messages received for rounds that the algorithm will not do, so that its state
  // includes no messages. Returns the resulting model. Called before the last VisitState of an
  // algorithm that rests with `model`.
  virtual Vec Settle(Vec model, Host&) { return model; }

  // Returns whether the algorithm must hear of an event even while its rounds are held up, for
  // example to save memory. What holds them up may be a node that itself waits for this node to
  // hear the event. Such an event ends at most one round.
  virtual bool MustHear(const Event&) const { return false; }

  // Returns the current round, which is the number of completed rounds.
  virtual Round round() const = 0;
  // Returns the messages that the current round still needs in order to end.
  virtual std::vector<Waiting> waiting_for() const = 0;
  // Returns the ranks that exchange messages with this node in rounds [from, to), ascending and
  // without repetition. The driver dials them ahead of time.
  virtual std::vector<Rank> Peers(Round from, Round to) const = 0;
};

// The learning rate as a function of the round (optim/learning_rate.h makes one).
using LearningRate = std::function<double(Round)>;

// The planned length of a run, which may end earlier. Fields are 0 where they are unknown.
struct RunLength {
  Round rounds = 0;
  double rounds_per_epoch = 0;  // also 0 without a data set
};

struct AlgorithmOptions {
  Rank rank = 0;
  std::shared_ptr<const Mixing> mixing;  // also gives the number of nodes
  LearningRate learning_rate;
  // The number of exchanges for which D-PSGD posts receive buffers. 1 keeps memory at (largest
  // in-degree + 4) replicas; 2 hides the credits' latency, at the cost of another replica for each
  // in-neighbour.
  int window = 1;
  RunLength length = {};
  // The number of workers that the run began with, some of which may be lost. 0: the number of
  // workers in the graph.
  Rank workers = 0;
  // Returns the number of workers that the run began with, where `left` of them are left.
  Rank PlannedWorkers(Rank left) const { return std::max(workers, left); }
  // The seed of the algorithm's random choices, the same at all nodes.
  uint64_t seed = 1;
};

// Creates the algorithm that `spec` ("NAME:key=value") names among the registered ones
// (algorithm/algorithm_kind.h). Errors name the spec and the known names, or the nearest value that
// works.
absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view spec,
                                                         AlgorithmOptions options);

// Returns whether all nodes average exactly, in every round or every few rounds, independently of
// the topology. False for an algorithm that this program does not know.
bool IsCentralized(std::string_view spec);

// The model that counts: it is evaluated, kept and compared with targets.
enum class EvaluatedModel {
  kWorkersMean,     // the mean of the workers' replicas
  kServersWeights,  // the servers' shards, side by side
};
// Returns the model that counts for `spec`: the workers' mean for an algorithm that this program
// does not know.
EvaluatedModel EvaluatedModelOf(std::string_view spec);

// Returns how many of `nodes` compute gradients and hold a model: all except servers. Workers are
// the ranks from 0 on; only they have data, and averages and the global batch refer to them. Errors
// are those of MakeAlgorithm; it is also an error if servers leave no worker.
absl::StatusOr<Rank> WorkerCount(std::string_view spec, Rank nodes);

// Returns how many messages all nodes together send in a round of `topology`, on average over a run
// of `length`: the cost of simulating it. An estimate for an allreduce on more than some hundreds
// of nodes. Errors are those of MakeAlgorithm.
absl::StatusOr<double> MessagesPerRound(std::string_view spec, const Topology& topology,
                                        const RunLength& length);

// Returns the ranges of a replica of `size` elements for which nodes request steps: one range,
// unless servers share the replica. A rule that takes norms of tensors needs whole tensors
// (optim/optimizer.h). Errors are those of MakeAlgorithm.
absl::StatusOr<std::vector<ReplicaRange>> StepRanges(std::string_view spec, Rank nodes,
                                                     int64_t size);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_H_
