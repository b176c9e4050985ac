// Messages between virtual nodes: posts meet sends, bytes flow, messages arrive.
//
// Credits follow the runtime's rule: a message begins to flow once its receiver has posted for it
// and the post has crossed the network back to the sender. So a slow receiver puts back-pressure on
// its senders, as in reality. An offer, its refusal and the withdrawal of a post cross the network
// in a latency each. And as on the runtime's streams, messages from one node to another go
// one after the other.
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

// Posts in turn (algorithm/message.h): which credits of which node are held, and until when. What a
// real node measures is known here: the latencies, and the progress of flows. Only the rate at
// which messages arrive is taken from the last one, since that of a message that has not begun is
// unknown. Thread-compatible.
class CreditTurns {
 public:
  struct Post {
    Rank from;
    Tag tag;
    Payload into;
    Round round;
    Nanoseconds when;
    uint32_t id = 0;  // tells it from others with its tag; wraps
  };

  // All outlive this.
  CreditTurns(Rank nodes, const NetworkModel* network, SimQueue* queue)
      : nodes_(nodes), network_(network), queue_(queue) {}

  void Hold(Rank to, const Post& post, int64_t bytes);
  // Whether any of its posts is.
  bool holds(Rank to) const { return !receivers_.empty() && !receivers_[to].held.empty(); }
  // Null if it is not held.
  const Post* Held(Rank to, Rank from, Tag tag) const;
  // Forgets a post that is held.
  void TakeBack(Rank to, Rank from, Tag tag);
  // A post whose credit has gone out is lost.
  void Lose(Rank to, Rank from, Tag tag) { At(to).order.Close(from, tag); }
  // Forgets all posts that are held.
  void Forget(Rank to);
  // No message flows to it any more that was posted for: forgets all.
  void Reset(Rank to);
  // The message flows no more.
  void End(FlowId flow, Rank to);
  // The tags of the posts for `from` that are held.
  std::vector<Tag> HeldFor(Rank to, Rank from) const;
  // A message that was posted in turn begins to flow, its last byte leaves, it has arrived.
  void Begin(FlowId flow, const MessageTimes& message, Nanoseconds now);
  void Leave(FlowId flow, const MessageTimes& message);
  void Arrive(FlowId flow, const MessageTimes& message);

  // The posts of a node whose credits may go now. To be called after each call above, after Begin
  // and Leave once the network has settled, and at the checks that this puts into the queue.
  std::vector<Post> Due(Rank to, Nanoseconds now);

 private:
  // A message that is leaving, or wholly in flight.
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
    double rate = 0;        // of the last message, with concurrent ones; bytes per nanosecond
    Nanoseconds check = 0;  // the one that counts
  };

  Receiver& At(Rank to);
  // The bytes that have not arrived.
  double Lacks(Rank to, const Receiver& receiver, const Coming& message, Nanoseconds now) const;
  // At which a message arrives, with concurrent ones; one that has not begun, as the last did.
  double RateOf(const Receiver& receiver, Rank from) const;
  double RateNow(const Receiver& receiver) const;
  void CheckLater(Rank to, double excess, Nanoseconds now);

  const Rank nodes_;
  const NetworkModel* const network_;
  SimQueue* const queue_;
  std::vector<Receiver> receivers_;  // once something is posted in turn
};

// Thread-compatible.
class MessageExchange {
 public:
  // `effects` may be null; all outlive this.
  MessageExchange(Rank nodes, NetworkModel* network, const MessageEffects* effects,
                  VectorStore* vectors, SimQueue* queue);

  // Requests of algorithms, at `when`, which is not before the queue's time; it
  // is later when the node was busy with arithmetic first.
  SendId Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note, bool offered,
              Nanoseconds when, Nanoseconds now);
  // Whether it answers an offer of which `to` has been told.
  bool Post(Rank to, CreditTurns::Post&& post, Credit credit, Nanoseconds now);
  void Decline(Rank to, Rank from, Tag tag, Nanoseconds when);
  void Withdraw(Rank to, Rank from, Tag tag, Nanoseconds when, Nanoseconds now);

  // Events of the queue.
  void OnDepart(MessageId id, Nanoseconds now);
  // The host of a message's sender has taken all of it: the sender is told that it has left.
  void OnBuffered(MessageId id, Nanoseconds now);
  // The message that has left, of which its sender has not been told; null when there is none.
  const MessageTimes* OnAlarm(MessageId id, uint32_t version, Nanoseconds now);
  // The message that has arrived; its slot stays in use until its receipt. Null if nobody is to
  // hear of it.
  const MessageTimes* OnArrival(MessageId id, Nanoseconds now);
  // The sum of the squares of the elements of a message that has left.
  double squared_norm(MessageId id) const { return messages_[id].squared_norm; }
  // The message whose sender, if it still is there, learns now that it has arrived; its slot will
  // be reused.
  std::optional<MessageTimes> OnReceipt(MessageId id);
  // Credits of `to` may be due.
  void OnCredits(Rank to, Nanoseconds now);
  // The network has shared its bandwidth anew (NetworkModel::Settle), which may make credits due.
  // Whether messages have begun to flow by that, so that it has to do so again.
  bool OnSettled(Nanoseconds now);
  // What a node learns by it, if anything.
  struct News {
    Rank at;
    Event event;
  };
  std::optional<News> OnNotice(uint32_t index, Nanoseconds now);

  // `lost` does nothing from now on. What has left it still arrives, and nothing else of it; what
  // is on the way to it takes its bandwidth.
  void Kill(Rank lost);
  // Another process is in its place, which all others have left out.
  void Revive(Rank lost);
  // Ends what is under way between `node` and `lost`, which is dead, and what `node` asks of it
  // later: posts in Lost, sends in an undelivered Sent.
  void LeaveOut(Rank node, Rank lost, Nanoseconds now);
  // `node` exchanges messages with it again.
  void TakeIn(Rank node, Rank newcomer) { left_out_.erase({node, newcomer}); }

  // The bytes of all requested messages, of offers once they begin to flow.
  int64_t bytes_sent(Rank rank) const { return bytes_sent_[rank]; }

 private:
  static constexpr MessageId kNone = ~MessageId{0};
  struct Message {
    MessageTimes times;
    Payload into;
    double squared_norm = 0;
    Nanoseconds delay = 0;  // an effect: beyond the latency
    bool in_turn = false;   // so posted
    bool offered = false;
    bool waiting = false;    // for a post
    bool announced = false;  // its receiver has been told of the offer
    bool live = true;        // the slot is in use
    bool granted = false;    // it departs, or is to
    bool buffered = false;   // its sender has been told that it has left
    bool left = false;       // its last byte has
    bool arrived = false;    // likewise
    bool received = false;   // its sender is about to hear that it has arrived
    bool gone = false;       // nobody is to hear of it: it only takes its bandwidth
    bool widowed = false;    // its sender has died
    MessageId next = kNone;  // waits until this one has left
  };
  // A post without a send yet, kept with the sender that may use it.
  struct Granted {
    Rank to;
    Tag tag;
    Round round;
    Nanoseconds ready;  // at the sender
    Payload into;
    bool in_turn;
    uint32_t post;
  };
  // What one node tells another of an offer or of a post.
  struct Notice {
    enum class Kind {
      kOffer,
      kDecline,
      kTakeBack,  // what a busy node withdraws later
      kWithdraw,
      kWithdrawn,
      kUndelivered,
      kBuffered
    };
    Kind kind;
    Rank from;  // of the message
    Rank to;
    Tag tag;
    MessageId message = kNone;  // of an offer
    SendId id = {};        // likewise: slots are reused; of what was not delivered, or is buffered
    bool in_turn = false;  // of a withdrawn credit
    uint32_t post = 0;     // that is withdrawn
    uint32_t life = 0;     // of whom it is for
    bool pending = true;   // on its way, and to be heard
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
  // How often it has come back.
  uint32_t life(Rank rank) const { return dead_.empty() ? 0 : lives_[rank]; }
  bool LeftOut(Rank node, Rank lost) const { return left_out_.contains({node, lost}); }
  // The message will not come; where it flows, or is to, its bandwidth is still taken.
  void Void(MessageId id);
  // A post ends in Lost.
  void EndPost(Rank to, Rank from, Tag tag, bool in_turn, Nanoseconds when);
  // A send ends undelivered.
  void EndSend(MessageId id, Nanoseconds when);
  // Whether the message, which waited for the credit, was announced.
  bool Grant(Rank to, const CreditTurns::Post& post, bool in_turn, Nanoseconds now);
  // The message for which the receiver may have posted nothing; end() if none waits.
  std::vector<MessageId>::iterator Waiting(Rank from, Rank to, Tag tag);
  // The notice arrives at `when`.
  void Tell(Notice notice, Nanoseconds when);
  // Whether the message of an offer has not ended.
  bool IsLive(const Notice& notice) const;
  std::optional<News> OnOffer(const Notice& notice);
  void OnTakeBack(const Notice& notice, Nanoseconds now);
  void OnWithdraw(const Notice& notice, Nanoseconds now);
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
  std::vector<Notice> notices_;
  std::vector<uint32_t> free_notices_;
  std::vector<bool> dead_;                    // once somebody is
  std::vector<uint32_t> lives_;               // likewise
  std::set<std::pair<Rank, Rank>> left_out_;  // a node, and who is dead to it
  std::vector<Orphan> orphans_;
  std::vector<Rank> paced_;    // to whom messages in turn flow otherwise than before
  std::vector<Rank> settled_;  // likewise, at rates that are known by now
  int64_t begun_ = 0;          // messages that have begun to flow
  int64_t announced_ = 0;      // offers that wait for their answers
  uint32_t last_post_ = 0;     // of any node
  SendId last_send_;           // of any node
  std::vector<int64_t> bytes_sent_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_MESSAGE_EXCHANGE_H_
