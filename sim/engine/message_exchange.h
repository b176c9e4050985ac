// Messages between virtual nodes: posts meet sends, bytes flow, messages arrive.
//
// Credits follow the runtime's rule: a message begins to flow once its receiver has posted for it
// and the post has crossed the network back to the sender. So a slow receiver puts back-pressure on
// its senders, as in reality. An offer, its refusal and the withdrawal of a post take one latency
// each. As on the runtime's streams, messages from one node to another go one after the other.
#ifndef GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_
#define GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "algorithm/event.h"
#include "algorithm/receiving.h"
#include "kernels/vector/vector_handle.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/vector_store.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

// Posts in turn (algorithm/message.h): which credits of each node are held, and until when. A real
// node measures latencies and the progress of flows; here they are known. Only the rate of a
// message that has not begun is unknown: it is taken from the last message. Thread-compatible.
class CreditTurns {
 public:
  struct Post {
    Rank from;
    Tag tag;
    Payload into;
    Round round;
    Nanoseconds when;
    uint32_t id = 0;  // distinguishes posts with the same tag; wraps
  };

  // `network` and `queue` must outlive this.
  CreditTurns(Rank nodes, const NetworkModel* network, SimQueue* queue)
      : nodes_(nodes), network_(network), queue_(queue) {}

  void Hold(Rank to, const Post& post, int64_t bytes);
  // Returns whether any post of `to` is held.
  bool holds(Rank to) const { return !receivers_.empty() && !receivers_[to].held.empty(); }
  // Returns the post of `to` for the message, or null if it is not held.
  const Post* Held(Rank to, Rank from, Tag tag) const;
  // Forgets a post that is held.
  void TakeBack(Rank to, Rank from, Tag tag);
  // Forgets a post whose credit has been sent and whose message is lost.
  void Lose(Rank to, Rank from, Tag tag) { At(to).order.Close(from, tag); }
  // Forgets all held posts of `to`.
  void Forget(Rank to);
  // Forgets everything about `to`, to which no message flows any more that it posted for.
  void Reset(Rank to);
  // Forgets a message that flows no more.
  void End(FlowId flow, Rank to);
  // Returns the tags of the held posts of `to` for messages of `from`.
  std::vector<Tag> HeldFor(Rank to, Rank from) const;
  // Must be called when a message that was posted in turn begins to flow, when its last byte
  // leaves, and when it has arrived.
  void Begin(FlowId flow, const MessageTimes& message, Nanoseconds now);
  void Leave(FlowId flow, const MessageTimes& message);
  void Arrive(FlowId flow, const MessageTimes& message);

  // Returns the posts of `to` whose credits may leave now. Must be called after each call above
  // (after Begin and Leave only once the network has settled), and at the kCredits events that this
  // puts into the queue.
  std::vector<Post> Due(Rank to, Nanoseconds now);

 private:
  // A message that is leaving, or wholly in flight.
  struct Coming {
    FlowId flow;
    Rank from;
    Tag tag;
    double bytes;
    Nanoseconds arrival;  // -1 while unknown
  };
  struct Receiver {
    CreditOrder order;
    std::vector<Post> held;
    std::vector<Coming> coming;
    double rate = 0;        // rate of the last message and concurrent ones; bytes per nanosecond
    Nanoseconds check = 0;  // time of the check that counts
  };

  Receiver& At(Rank to);
  // Returns the bytes of `message` that have not arrived.
  double Lacks(Rank to, const Receiver& receiver, const Coming& message, Nanoseconds now) const;
  // Returns the rate at which the message of `from` arrives, together with concurrent ones; for a
  // message that has not begun, the rate of the last one.
  double RateOf(const Receiver& receiver, Rank from) const;
  double RateNow(const Receiver& receiver) const;
  void CheckLater(Rank to, double excess, Nanoseconds now);

  const Rank nodes_;
  const NetworkModel* const network_;
  SimQueue* const queue_;
  std::vector<Receiver> receivers_;  // empty until something is posted in turn
};

// Thread-compatible.
class MessageExchange {
 public:
  // `effects` may be null. All that is pointed to must outlive this.
  MessageExchange(Rank nodes, NetworkModel* network, const MessageEffects* effects,
                  VectorStore* vectors, SimQueue* queue);

  // Requests of algorithms, made at `when`, which must not be before the queue's time. It is later
  // when the node was busy with arithmetic first.
  SendId Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note, bool offered,
              Nanoseconds when, Nanoseconds now);
  // Returns whether the post answers an offer of which `to` has been told.
  bool Post(Rank to, CreditTurns::Post&& post, Credit credit, Nanoseconds now);
  void Decline(Rank to, Rank from, Tag tag, Nanoseconds when);
  void Withdraw(Rank to, Rank from, Tag tag, Nanoseconds when, Nanoseconds now);

  // Handlers for events of the queue.
  void OnDepart(MessageId id, Nanoseconds now);
  // Tells the sender of a message that it has left: the sender's host has taken all of it.
  void OnBuffered(MessageId id, Nanoseconds now);
  // Returns the message that has left, unless its sender has been told so before. Null if there is
  // none.
  const MessageTimes* OnAlarm(MessageId id, uint32_t version, Nanoseconds now);
  // Returns the message that has arrived, or null if no node is to hear of it. The slot of the
  // message stays in use until its receipt.
  const MessageTimes* OnArrival(MessageId id, Nanoseconds now);
  // Returns the sum of the squares of the elements of a message that has left.
  double squared_norm(MessageId id) const { return messages_[id].squared_norm; }
  // Returns the message whose sender learns now that it has arrived; nothing if that sender is
  // gone. The slot of the message will be reused.
  std::optional<MessageTimes> OnReceipt(MessageId id);
  // Sends the credits of `to` that are due.
  void OnCredits(Rank to, Nanoseconds now);
  // Sends the credits that are due after the network has shared its bandwidth anew
  // (NetworkModel::Settle). Returns whether messages have begun to flow by that, so that the
  // network must settle again.
  bool OnSettled(Nanoseconds now);
  // An event that a node learns of.
  struct News {
    Rank at;
    Event event;
  };
  std::optional<News> OnNotice(uint32_t index, Nanoseconds now);

  // Kills node `lost`, which does nothing from now on. Messages that have left it still arrive, but
  // no others. Messages on their way to it still take their bandwidth.
  void Kill(Rank lost);
  // Puts another process in the place of `lost`, which all other nodes have left out.
  void Revive(Rank lost);
  // Ends what is under way between `node` and the dead node `lost`, and what `node` requests of it
  // later: posts end in Lost, sends in an undelivered Sent.
  void LeaveOut(Rank node, Rank lost, Nanoseconds now);
  // Lets `node` exchange messages with `newcomer` again.
  void TakeIn(Rank node, Rank newcomer) { left_out_.erase({node, newcomer}); }

  // Returns the bytes of all requested messages; an offer counts once it begins to flow.
  int64_t bytes_sent(Rank rank) const { return bytes_sent_[rank]; }

 private:
  static constexpr MessageId kNone = ~MessageId{0};
  struct Message {
    MessageTimes times;
    Payload into;
    double squared_norm = 0;
    Nanoseconds delay = 0;  // added to the latency by an effect
    bool in_turn = false;   // posted in turn
    bool offered = false;
    bool waiting = false;    // waits for a post
    bool announced = false;  // its receiver has been told of the offer
    bool live = true;        // the slot is in use
    bool granted = false;    // has a credit: it departs, or will
    bool buffered = false;   // its sender has been told that it has left
    bool left = false;       // its last byte has left
    bool arrived = false;    // its last byte has arrived
    bool received = false;   // its sender is about to hear that it has arrived
    bool gone = false;       // no node is to hear of it: it only takes its bandwidth
    bool widowed = false;    // its sender has died, or has left out its receiver
    MessageId next = kNone;  // the message that waits until this one has left
  };
  // A post without a send yet, kept with the sender that may use it.
  struct Granted {
    Rank to;
    Tag tag;
    Round round;
    Nanoseconds ready;  // when the credit is at the sender
    Payload into;
    bool in_turn;
    uint32_t post;
  };
  // What a node is to hear about an offer, a post or a send.
  struct Notice {
    enum class Kind {
      kOffer,
      kDecline,
      kTakeBack,  // a withdrawal that a busy node makes later
      kWithdraw,
      kWithdrawn,
      kUndelivered,
      kBuffered
    };
    Kind kind;
    Rank from;  // sender of the message
    Rank to;
    Tag tag;
    MessageId message = kNone;  // the message of an offer
    // The send of an offer, as slots are reused; or the send that was not delivered or is buffered.
    SendId id = {};
    bool in_turn = false;  // whether a withdrawn credit was in turn
    uint32_t post = 0;     // the post that is withdrawn
    uint32_t life = 0;     // life of the node that it is for
    bool pending = true;   // on its way, and to be heard
  };
  struct Stream {
    Rank to;
    MessageId last;  // the last message that flows or waits for its turn
  };
  struct Sender {
    std::vector<Granted> credits;
    std::vector<MessageId> waiting;  // sends that have no post yet
    std::vector<Stream> streams;     // streams on which a message flows
  };

  // A post whose message is gone.
  struct Orphan {
    Rank to;
    Rank from;
    Tag tag;
    bool in_turn;
  };

  MessageId NewMessage(const MessageTimes& times);
  void Free(MessageId id);
  bool dead(Rank rank) const { return !dead_.empty() && dead_[rank]; }
  // Returns how often `rank` has come back.
  uint32_t life(Rank rank) const { return dead_.empty() ? 0 : lives_[rank]; }
  bool LeftOut(Rank node, Rank lost) const { return left_out_.contains({node, lost}); }
  // Makes sure that the message does not arrive. If it flows, or will, it still takes its
  // bandwidth.
  void Void(MessageId id);
  // Ends a post in Lost.
  void EndPost(Rank to, Rank from, Tag tag, bool in_turn, Nanoseconds when);
  // Ends a send undelivered.
  void EndSend(MessageId id, Nanoseconds when);
  // Grants the credit of a post. Returns whether a message waited for it and was announced.
  bool Grant(Rank to, const CreditTurns::Post& post, bool in_turn, Nanoseconds now);
  // Returns the message that waits at `from` for a post, which may not exist yet; end() if none
  // waits.
  std::vector<MessageId>::iterator Waiting(Rank from, Rank to, Tag tag);
  // Makes the notice arrive at `when`.
  void Tell(Notice notice, Nanoseconds when);
  // Returns whether the message of an offer has not ended.
  bool IsLive(const Notice& notice) const;
  std::optional<News> OnOffer(const Notice& notice);
  void OnTakeBack(const Notice& notice, Nanoseconds now);
  void OnWithdraw(const Notice& notice, Nanoseconds now);
  void DepartAt(MessageId id, Nanoseconds when, Nanoseconds now);
  void BeginFlow(MessageId id, Nanoseconds now);
  // Begins the next message of the stream after message `id` has left.
  void Advance(MessageId id, Nanoseconds now);

  NetworkModel* const network_;
  const MessageEffects* const effects_;
  VectorStore* const vectors_;
  SimQueue* const queue_;

  Connections connections_;  // used only with effects
  CreditTurns turns_;
  std::vector<Sender> senders_;
  std::vector<Message> messages_;
  std::vector<MessageId> free_;
  std::vector<Notice> notices_;
  std::vector<uint32_t> free_notices_;
  std::vector<bool> dead_;                    // empty until a node has died
  std::vector<uint32_t> lives_;               // empty until a node has died
  std::set<std::pair<Rank, Rank>> left_out_;  // pairs of a node and one that is dead to it
  std::vector<Orphan> orphans_;
  std::vector<Rank> paced_;    // receivers whose messages in turn have begun or ended to flow
  std::vector<Rank> settled_;  // receivers from `paced_` whose rates are known by now
  int64_t begun_ = 0;          // messages that have begun to flow
  int64_t announced_ = 0;      // offers that wait for their answers
  uint32_t last_post_ = 0;     // last post of any node
  SendId last_send_;           // last send of any node
  std::vector<int64_t> bytes_sent_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_
