// A sum over all ranks, in place, as messages of chunks: the part of an
// algorithm that allreduce SGD, model averaging and outer optimizers share.
//
// A collective is a nested state machine: its owner passes on the events of its
// channel. Every rank ends with the same bits, since each element is summed once
// in one order.
#ifndef GRAPEVINE_ALGORITHM_COLLECTIVE_H_
#define GRAPEVINE_ALGORITHM_COLLECTIVE_H_

#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/host.h"

namespace grapevine {

// One event at a time; one sum at a time.
class Collective {
 public:
  virtual ~Collective() = default;

  // Posts what the first sum can receive before its data is there, so that the
  // credits are with the peers in time; once, before the first Begin. Later sums
  // are prepared by the one before.
  virtual void Prepare(Host& host) = 0;
  // Sums `data` (host.replica_size() elements) over all ranks into itself.
  virtual void Begin(Vec data, Host& host) = 0;

  // Messages of the coming sum may arrive before it begins here.
  virtual absl::Status On(const Received& event, Host& host) = 0;
  virtual absl::Status On(const Sent& event, Host& host) = 0;

  // The sum begun last is in its vector.
  virtual bool summed() const = 0;
  // Nothing of it is in flight.
  virtual bool idle() const = 0;
  virtual std::vector<Waiting> waiting_for() const = 0;
  // Ranks that this one exchanges messages with, ascending.
  virtual std::vector<Rank> Peers() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_COLLECTIVE_H_
