// How nodes learn together: a state machine without I/O.
//
// Events go in, requests to the host come out. An algorithm reads no clock,
// owns no thread, opens no socket and touches no memory of a vector; node/ and
// sim/ drive the same object. It never branches on the contents of a vector.
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

// A message that an algorithm still waits for, to arrive or to be taken by the peer: for the
// report when a peer falls silent.
struct Waiting {
  Rank peer;
  Tag tag;
};

// The error of an algorithm that foresees all its messages and whose members are always the same,
// for an Offered, a Lost and what changes members: it names the peer and the message. OK for all
// other events.
absl::Status CheckForeseen(const Event& event);

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Errors are protocol violations by the driver or a peer: they name the
  // event and end the run.
  virtual absl::Status On(const Event& event, Host& host) = 0;

  // Shows all that it keeps from one round to the next. Called during Host::Boundary or at rest, by
  // the driver, and during Start, by the algorithm itself. An algorithm that does not say what it
  // keeps cannot be checkpointed: an error.
  virtual absl::Status VisitState(StateVisitor& state, Host& host);

  // Where members may be lost: whether an instance gives way at once when members change, in the
  // round that it is in (GiveUp), and does not go through the rounds before the next view's first
  // one. So where a round comes to nothing when a member is lost in it, as a sum over all does, and
  // where nodes go through no rounds together. What nodes of such an instance send is offered
  // (Host::Offer), so that it ends though its receiver has given up.
  virtual bool gives_way() const { return false; }
  // Of one that gives way: ends what is under way, as the round, without its result. What was
  // posted is taken back where nobody is to fill it, and the caller declines offers. What cannot be
  // undone is finished. Once nothing is in flight the algorithm comes to rest for good.
  virtual void GiveUp(Host&) {}
  // Once it has given up: the round in which it comes to rest.
  virtual Round rests_in() const { return round(); }
  // Whether it takes leave of the others: they go through each view, and until it rests it takes
  // what they offer, though it has given up.
  virtual bool takes_leave() const { return false; }

  // Before the last VisitState of an algorithm that rests with this model: takes in what it has
  // received for rounds that it will not do, so that its state includes no messages. Returns the
  // model with that.
  virtual Vec Settle(Vec model, Host&) { return model; }

  // Whether the algorithm must hear of an event though its rounds are held up, for the sake of
  // memory, say: what they wait for may be a node that waits for this one to hear it. At most one
  // round ends by it.
  virtual bool MustHear(const Event&) const { return false; }

  // The current round (the number of completed rounds).
  virtual Round round() const = 0;
  // The messages that the current round still needs in order to end.
  virtual std::vector<Waiting> waiting_for() const = 0;
  // The ranks that exchange messages with this node in rounds [from, to), to be dialled ahead.
  // Ascending, without repetition.
  virtual std::vector<Rank> Peers(Round from, Round to) const = 0;
};

// How the learning rate depends on the round (optim/learning_rate.h makes one).
using LearningRate = std::function<double(Round)>;

// How long the run is planned to be; it may end earlier. 0 where that is not known.
struct RunLength {
  Round rounds = 0;
  double rounds_per_epoch = 0;  // 0 also where there are no data
};

struct AlgorithmOptions {
  Rank rank = 0;
  std::shared_ptr<const Mixing> mixing;  // also gives the number of nodes
  LearningRate learning_rate;
  // Exchanges for which D-PSGD posts receive buffers. 1 keeps memory at (largest in-degree + 4)
  // replicas; 2 hides the credits' latency, at the cost of another replica for each
  // in-neighbour.
  int window = 1;
  RunLength length = {};
  // The workers that the run began with, of which some may be lost. 0: those of the graph.
  Rank workers = 0;
  // That number, where so many are left.
  Rank PlannedWorkers(Rank left) const { return std::max(workers, left); }
  // For an algorithm's random choices, the same at all nodes.
  uint64_t seed = 1;
};

// The algorithm that `spec` names ("NAME:key=value") among the registered ones
// (algorithm/algorithm_kind.h). Errors name the spec and the known names, or the nearest value
// that works.
absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view spec,
                                                         AlgorithmOptions options);

// Whether all nodes average exactly, in every round or every so many, independently of the
// topology. False for an algorithm that this program does not know.
bool IsCentralized(std::string_view spec);

// Which model counts: what is evaluated, kept and compared with targets.
enum class EvaluatedModel {
  kWorkersMean,     // the mean of the workers' replicas
  kServersWeights,  // the servers' shards, side by side
};
// The workers' mean for an algorithm that this program does not know.
EvaluatedModel EvaluatedModelOf(std::string_view spec);

// How many of `nodes` compute gradients and hold a model: all except servers. Workers are the
// ranks from 0 on; only they have data, and averages and the global batch refer to them. Errors
// as MakeAlgorithm's, also where servers leave no worker.
absl::StatusOr<Rank> WorkerCount(std::string_view spec, Rank nodes);

// How many messages all nodes send in a round of `topology`, on average over a run of `length`:
// the cost of simulating it. An estimate for an allreduce on more than some hundreds of nodes.
// Errors as MakeAlgorithm's.
absl::StatusOr<double> MessagesPerRound(std::string_view spec, const Topology& topology,
                                        const RunLength& length);

// The ranges of a replica of `size` elements for which nodes request steps: one, unless servers
// share it. A rule that takes norms of tensors needs them whole (optim/optimizer.h). Errors as
// MakeAlgorithm's.
absl::StatusOr<std::vector<ReplicaRange>> StepRanges(std::string_view spec, Rank nodes,
                                                     int64_t size);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_H_
