// Messages between virtual nodes: posts meet sends, bytes flow, messages arrive.
//
// The rule of credit is the runtime's: a message begins to flow once its
// receiver has posted for it and the post has crossed the network back to the
// sender. So a slow receiver stalls its senders as in reality. And as on the
// runtime's streams, messages from one node to another go one after the other.
#ifndef GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_
#define GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "algorithm/event.h"
#include "kernels/vector/vector_handle.h"
#include "sim/engine/credit_turns.h"
#include "sim/engine/sim_event.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/vector_store.h"
#include "sim/nanoseconds.h"
#include "sim/network/connections.h"
#include "sim/network/message_effect.h"
#include "sim/network/network_model.h"

namespace grapevine {

// Thread-compatible.
class MessageExchange {
 public:
  // `effects` may be null; all outlive this.
  MessageExchange(Rank nodes, NetworkModel* network, const MessageEffects* effects,
                  VectorStore* vectors, SimQueue* queue);

  // Requests of algorithms, at `when`, which is not before the queue's time; it
  // is later when the node was busy with arithmetic first.
  SendId Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note,
              Nanoseconds when, Nanoseconds now);
  void Post(Rank to, const CreditTurns::Post& post, Credit credit, Nanoseconds now);

  // Events of the queue.
  void OnDepart(MessageId id, Nanoseconds now);
  // The message that has left, or null when the alarm was overtaken.
  const MessageTimes* OnAlarm(MessageId id, uint32_t version, Nanoseconds now);
  // The message that has arrived; its slot is used again.
  MessageTimes OnArrival(MessageId id, Nanoseconds now);
  // Credits of `to` may be due.
  void OnCredits(Rank to, Nanoseconds now);

  // Of all messages that were asked for.
  int64_t bytes_sent(Rank rank) const { return bytes_sent_[rank]; }

 private:
  static constexpr MessageId kNone = ~MessageId{0};
  struct Message {
    MessageTimes times;
    Payload into;
    Nanoseconds delay = 0;   // an effect: beyond the latency
    bool in_turn = false;    // posted so
    MessageId next = kNone;  // waits until this one has left
  };
  // A post that has no send yet, kept with the sender that may use it.
  struct Granted {
    Rank to;
    Tag tag;
    Round round;
    Nanoseconds ready;  // at the sender
    Payload into;
    bool in_turn;
  };
  struct Stream {
    Rank to;
    MessageId last;  // of those that flow or wait for their turn
  };
  struct Sender {
    std::vector<Granted> credits;
    std::vector<MessageId> waiting;  // sends that have no post yet
    std::vector<Stream> streams;     // on which a message flows
  };

  MessageId NewMessage(const MessageTimes& times);
  void Grant(Rank to, const CreditTurns::Post& post, bool in_turn, Nanoseconds now);
  void DepartAt(MessageId id, Nanoseconds when, Nanoseconds now);
  void BeginFlow(MessageId id, Nanoseconds now);
  // The message has left: the next one of its stream begins.
  void Advance(MessageId id, Nanoseconds now);

  NetworkModel* const network_;
  const MessageEffects* const effects_;
  VectorStore* const vectors_;
  SimQueue* const queue_;

  Connections connections_;  // kept where there are effects
  CreditTurns turns_;
  std::vector<Sender> senders_;
  std::vector<Message> messages_;
  std::vector<MessageId> free_;
  SendId last_send_;  // of any node
  std::vector<int64_t> bytes_sent_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_
