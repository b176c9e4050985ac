// Posts in turn (algorithm/event.h): which credits of which node are held, and until
// when.
//
// What a real node measures is known here: the latencies, and how far flows have
// come. Only the rate at which messages come in is taken from the last one that did,
// since nobody knows that of one that has not begun.
#ifndef GRAPEVINE_SIM_ENGINE_CREDIT_TURNS_H_
#define GRAPEVINE_SIM_ENGINE_CREDIT_TURNS_H_

#include <cstdint>
#include <vector>

#include "algorithm/credit_order.h"
#include "algorithm/event.h"
#include "kernels/vector/vector_handle.h"
#include "sim/engine/sim_event.h"
#include "sim/engine/sim_observer.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

// Thread-compatible.
class CreditTurns {
 public:
  struct Post {
    Rank from;
    Tag tag;
    Payload into;
    Round round;
    Nanoseconds when;
  };

  // All outlive this.
  CreditTurns(Rank nodes, const NetworkModel* network, SimQueue* queue)
      : nodes_(nodes), network_(network), queue_(queue) {}

  void Hold(Rank to, const Post& post, int64_t bytes);
  // Of a message that was posted in turn: it begins to flow, its last byte leaves, it is
  // there.
  void Begin(FlowId flow, const MessageTimes& message, Nanoseconds now);
  void Leave(FlowId flow, const MessageTimes& message);
  void Arrive(FlowId flow, const MessageTimes& message);

  // The posts of a node whose credits may go now. To be asked after each call above
  // but Leave, and when the check comes that this puts into the queue.
  std::vector<Post> Due(Rank to, Nanoseconds now);

 private:
  // On its way, or wholly in flight.
  struct Coming {
    FlowId flow;
    Rank from;
    Tag tag;
    double bytes;
    Nanoseconds arrival;  // unknown: -1
  };
  struct Receiver {
    CreditOrder order;
    std::vector<Post> held;
    std::vector<Coming> coming;
    double rate = 0;        // of the last message, with those beside it; bytes per nanosecond
    Nanoseconds check = 0;  // the one that counts
  };

  Receiver& At(Rank to);
  // The bytes that have not arrived.
  double Lacks(Rank to, const Receiver& receiver, const Coming& message, Nanoseconds now) const;
  double RateNow(const Receiver& receiver) const;
  void CheckLater(Rank to, double excess, Nanoseconds now);

  const Rank nodes_;
  const NetworkModel* const network_;
  SimQueue* const queue_;
  std::vector<Receiver> receivers_;  // once something is posted in turn
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_CREDIT_TURNS_H_
