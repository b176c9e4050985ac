// Messages of a replayed run: posts meet sends without a network, and recorded events wait for
// their causes.
#ifndef GRAPEVINE_SIM_REPLAY_REPLAYED_MESSAGES_H_
#define GRAPEVINE_SIM_REPLAY_REPLAYED_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Thread-compatible.
class ReplayedMessages {
 public:
  // `store` outlives this.
  ReplayedMessages(Rank nodes, VectorStore* store) : nodes_(nodes), store_(store) {}

  // Requests of nodes, as in algorithm/host.h. Errors: a request that the rules forbid. The sends
  // of a node are numbered from 1, as a real node's are.
  absl::StatusOr<SendId> Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note,
                              bool offered);
  absl::Status Post(Rank to, Rank from, Tag tag, const Payload& into);
  absl::Status Decline(Rank to, Rank from, Tag tag);
  absl::Status Withdraw(Rank to, Rank from, Tag tag);

  // The event that `rank` is to see next, complete, once its cause is there; nothing as long as
  // that may still come. Errors say why it cannot.
  using Caused = absl::StatusOr<std::optional<Event>>;
  Caused Take(Rank rank, const Received& event);
  Caused Take(Rank rank, const Offered& event);
  Caused Take(Rank rank, const Lost& event);
  Caused Take(Rank rank, const Left& event);
  Caused Take(Rank rank, const Sent& event);

 private:
  using Name = std::pair<Rank, Tag>;  // of a message for a node: its sender, and its tag
  // Between its Send and its Sent.
  struct Message {
    Rank to = 0;
    Tag tag;
    MessageId slot = 0;  // of the store, until the message has ended
    int64_t bytes = 0;
    Note note;
    bool offered = false;
    bool announced = false;  // its receiver has been told of the offer
    bool left = false;
    std::optional<bool> delivered = {};  // or declined: it has ended
  };
  struct Posted {
    Payload into;
    bool withdrawn = false;
  };
  struct Node {
    uint64_t sends = 0;                // so far
    std::map<uint64_t, Message> sent;  // by number
    std::map<Name, uint64_t> coming;   // their numbers
    std::map<Name, Posted> posts;
  };

  // Null if none is on its way.
  Message* Coming(Rank to, const Name& name);
  absl::StatusOr<Message*> OwnSend(Rank rank, SendId id);
  MessageId NewSlot();
  // The message has ended: its receiver is through with it.
  void End(Rank to, const Name& name, bool delivered);

  std::vector<Node> nodes_;
  VectorStore* const store_;
  MessageId slots_ = 0;
  std::vector<MessageId> free_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_REPLAY_REPLAYED_MESSAGES_H_
