// Runs the nodes of a recorded run again, in one process without a network: every node takes the
// events that it saw, in the order in which it saw them.
//
// Besides its settings, a node's run depends only on the order of its events: algorithms see
// nothing else, and a message carries what its sender had when it asked for the send. So the
// replicas end in the same bits, and time, threads and the network need not be known. Across nodes,
// an event is taken as soon as its cause has happened: the message was sent and its receiver has
// posted for it, or the gradient was asked for. An event that can have no cause is an error.
//
// Thread-compatible.
#ifndef GRAPEVINE_SIM_REPLAY_REPLAY_H_
#define GRAPEVINE_SIM_REPLAY_REPLAY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "run/recording/recording.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Messages of a replayed run: posts meet sends without a network, and recorded events wait for
// their causes.
class ReplayedMessages {
 public:
  // `store` must outlive this.
  ReplayedMessages(Rank nodes, VectorStore* store) : nodes_(nodes), store_(store) {}

  // Requests of nodes; see algorithm/host.h. A request that the rules forbid is an error. The sends
  // of a node are numbered from 1, like those of a real node.
  absl::StatusOr<SendId> Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note,
                              bool offered);
  absl::Status Post(Rank to, Rank from, Tag tag, const Payload& into);
  absl::Status Decline(Rank to, Rank from, Tag tag);
  absl::Status Withdraw(Rank to, Rank from, Tag tag);

  // Returns the event that `rank` is to see next, complete, once its cause has happened; nothing as
  // long as the cause may still happen. Errors say why it cannot.
  using Caused = absl::StatusOr<std::optional<Event>>;
  Caused Take(Rank rank, const Received& event);
  Caused Take(Rank rank, const Offered& event);
  Caused Take(Rank rank, const Lost& event);
  Caused Take(Rank rank, const Left& event);
  Caused Take(Rank rank, const Sent& event);

 private:
  using Name = std::pair<Rank, Tag>;  // names a message for a node: its sender and its tag
  // A message between its Send and its Sent.
  struct Message {
    Rank to = 0;
    Tag tag;
    MessageId slot = 0;  // slot of the store, until the message has ended
    int64_t bytes = 0;
    Note note;
    bool offered = false;
    bool announced = false;  // its receiver has been told of the offer
    bool left = false;
    std::optional<bool> delivered = {};  // whether it was delivered or declined, once it has ended
  };
  struct Posted {
    Payload into;
    bool withdrawn = false;
  };
  struct Node {
    uint64_t sends = 0;                // number of sends so far
    std::map<uint64_t, Message> sent;  // sends under way, by number
    std::map<Name, uint64_t> coming;   // numbers of messages on their way to the node
    std::map<Name, Posted> posts;
  };

  // Returns the message on its way to `to`, or null if there is none.
  Message* Coming(Rank to, const Name& name);
  absl::StatusOr<Message*> OwnSend(Rank rank, SendId id);
  MessageId NewSlot();
  // Ends a message: its receiver is through with it.
  void End(Rank to, const Name& name, bool delivered);

  std::vector<Node> nodes_;
  VectorStore* const store_;
  MessageId slots_ = 0;
  std::vector<MessageId> free_;
};

class Replay final : private StoreHost {
 public:
  // `recordings` are those of all nodes, by rank. They and `vectors` must outlive the replay. No
  // node's limit (RoundLimit) may be beyond `most_rounds`.
  static absl::StatusOr<std::unique_ptr<Replay>> Make(
      std::span<const RecordedNode> recordings, VectorStore* vectors, Round most_rounds,
      const std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(Rank)>& make_algorithm);

  // Replays as far as the recordings go. Errors name the file, the rank, the event and its offset.
  // They are kInput for an event without a cause; others are those of the algorithm or of a
  // gradient.
  absl::Status Run();

  // Returns the number of events that nodes have taken.
  int64_t events() const { return events_; }
  // Returns what the node waits for, and where in its recording; nothing if it has taken all its
  // events. If no recording breaks off, all nodes have taken all their events after Run.
  std::optional<std::string> WaitsFor(Rank rank) const;
  // Returns the model with which the node came to rest; the null vector if it does not rest or has
  // no model.
  Vec model(Rank rank) const { return nodes_[rank].model; }

 private:
  struct PendingGradient {
    Round round = 0;
    std::span<const int64_t> cuts;
    int64_t from = 0;  // elements from here on are final
    bool computed = false;
  };
  struct Node {
    explicit Node(const RecordedNode& recording) : cursor(&recording) {}

    EventCursor cursor;
    std::unique_ptr<Algorithm> algorithm = nullptr;
    bool started = false;
    Round limit = 0;
    std::optional<PendingGradient> gradient = {};
    Vec model = {};
  };

  Replay(std::span<const RecordedNode> recordings, VectorStore* vectors, Round most_rounds);

  // Takes the next event of the node if its cause has happened. Returns whether it did.
  absl::StatusOr<bool> TakeNext(Rank rank);
  using Caused = ReplayedMessages::Caused;
  Caused Take(Rank rank, const Start& event);
  Caused Take(Rank rank, const RoundLimit& event);
  Caused Take(Rank rank, const GradientReady& event);
  Caused Take(Rank rank, const Prepare& event);
  Caused Take(Rank rank, const ViewChanged& event);
  template <typename MessageEvent>
  Caused Take(Rank rank, const MessageEvent& event);
  absl::Status CheckEnd() const;

  // Host, for the node whose event is being handled:
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override;
  void Combine(Part out, std::span<const Term> terms) override { store().Combine(out, terms); }
  void Clip(Part part, double limit) override { store().Clip(part, limit); }
  void Step(const StepRequest& request) override { store().Step(request); }
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  SendId Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note, bool offered);
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) override;
  void Decline(Rank from, Tag tag) override { Fail(messages_.Decline(current_, from, tag)); }
  void Withdraw(Rank from, Tag tag) override { Fail(messages_.Withdraw(current_, from, tag)); }
  void GradientApplied(int64_t) override {}
  void Boundary(Round, Vec) override {}
  void Rest(Vec model) override { nodes_[current_].model = model; }

  const Round most_rounds_;
  ReplayedMessages messages_;
  std::vector<Node> nodes_;
  bool breaks_off_ = false;  // whether a recording breaks off
  Rank current_ = 0;
  int64_t events_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_REPLAY_REPLAY_H_
