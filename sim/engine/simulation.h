// Drives n algorithms in one process: the simulated counterpart of n runners.
//
// A virtual node has two lanes, like the runtime's: gradients on one, and on the other everything
// that its runner's thread does (events, mixing). An event that finds the second lane busy waits in
// the node's mailbox. The algorithms are those that real nodes run; none is implemented here.
#ifndef GRAPEVINE_SIM_ENGINE_SIMULATION_H_
#define GRAPEVINE_SIM_ENGINE_SIMULATION_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/async_gradients.h"
#include "algorithm/receiving.h"
#include "algorithm/state_visitor.h"
#include "run/checkpoint/node_state.h"
#include "run/timing/compute_time.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/membership.h"
#include "sim/engine/message_exchange.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/vector_store.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

struct SimulationOptions {
  Rank nodes = 1;
  // Ranks below this one share a budget of gradients, as many for each of them as the rounds that
  // Run is given. Their limits move without delay. 0: all nodes do the same rounds.
  Rank sharing = 0;
  // Steps that a rank below `sharing` takes between two exchanges.
  Round window = 1;
  // Rate at which mixing reads and writes memory, in bytes per nanosecond. Infinite: mixing takes
  // no time.
  double memory_bandwidth = std::numeric_limits<double>::infinity();
  // Time of the exchange lane that sending or receiving one message takes.
  Nanoseconds message_overhead = 0;
  // The largest norm of a neighbour's message that is accepted (algorithm/receiving.h).
  double max_norm = kAnyNorm;
  // If nodes die and fewer than `least` are left, these wait for others to join, for at most
  // `patience`.
  Rank least = 0;
  Nanoseconds patience = std::numeric_limits<Nanoseconds>::max();
  // All nodes begin in round `begin` at `begin_time`. Nodes that share a budget begin when `begin`
  // nominal rounds are over, of which each has done `done` steps, by rank. If `done` is empty, each
  // has done one step a round.
  std::vector<Round> done = {};
  Round begin = 0;
  Nanoseconds begin_time = 0;
  // Unless nodes resume, each begins later by a random time of up to `start_spread`, drawn with
  // `seed`.
  Nanoseconds start_spread = 0;
  uint64_t seed = 0;
};

// All that is pointed to must outlive the simulation. `effects`, `observer` and `interrupted` may
// be null.
struct SimulationParts {
  std::function<std::unique_ptr<NetworkModel>(AlarmClock*)> make_network;
  // Makes the algorithm of a node's process, and a new one when the node comes back (ReturnAt).
  std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(Rank)> make_algorithm;
  // Returns the state with which a node begins. Null: no node has one.
  std::function<absl::StatusOr<NodeState>(Rank)> resume = nullptr;
  VectorStore* vectors = nullptr;
  const ComputeTime* compute = nullptr;
  const MessageEffects* effects = nullptr;
  SimObserver* observer = nullptr;
  // Ends Run with kInterrupted once set. Any thread may set it.
  const std::atomic<bool>* interrupted = nullptr;
};

// Thread-compatible.
class Simulation final : private StoreHost, private AlarmClock {
 public:
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const SimulationOptions& options,
                                                          SimulationParts parts);
  ~Simulation() override;

  // Runs until every node rests at `limit` and the budget, if there is one, is used up, or until
  // Stop is called. Errors name the node and the round. They are those of a gradient or of the
  // observer, or tell of a node that waits for a message that cannot come.
  absl::Status Run(Round limit);
  // Moves the limit outwards while Run lasts. Called by the observer.
  void ExtendLimit(Round limit) { wanted_limit_ = std::max(wanted_limit_, limit); }
  // Shows the state of node `rank`, whose boundary it must be. Called by the observer, from
  // OnBoundary.
  absl::Status VisitState(Rank rank, StateVisitor& state) {
    return nodes_[rank].algorithm->VisitState(state, *this);
  }
  // Kills the node at `when`, or now if that has passed: it does nothing any more. After
  // `detection` the others learn of it and agree to go on without the node. If their algorithm
  // cannot do so (algorithm/membership/resilient_algorithm.h), Run ends with its error.
  void KillAt(Rank rank, Nanoseconds when, Nanoseconds detection = 0);
  // If the node is dead at `when`, or now if that has passed, another process takes its place. The
  // process joins as soon as the others have agreed, unless the run has no round left for it.
  void ReturnAt(Rank rank, Nanoseconds when);
  // Calls the observer's OnWake at `when`, or now if that has passed, unless all nodes rest by
  // then.
  void WakeAt(Nanoseconds when);
  // Returns the number of rounds that a node has completed.
  Round round(Rank rank) const { return nodes_[rank].algorithm->round(); }
  bool alive(Rank rank) const { return !nodes_[rank].dead; }
  Rank nodes() const { return options_.nodes; }
  Rank living() const { return living_; }
  // Returns the largest number of members of any view that has held within `memory` before now.
  Rank MostMembers(Nanoseconds memory) const {
    return membership_ ? membership_->MostMembers(now_, memory) : options_.nodes;
  }
  // Returns the latest view that was agreed upon, or null if there is none but the first.
  const View* view() const { return membership_ ? &membership_->view() : nullptr; }
  // Moves all nodes to another view with the same members, for that checkpoint (View::checkpoint).
  // Only for algorithms whose members may change.
  void Renew(Round checkpoint) { membership().Renew(checkpoint, now_); }
  // Ends Run at once, whatever the nodes are doing. Called by the observer.
  void Stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  // Returns the time of the last event.
  Nanoseconds now() const { return now_; }
  int64_t events() const { return events_; }
  // Returns the bytes of all requested messages; at a boundary, those of the completed rounds.
  int64_t bytes_sent(Rank rank) const { return exchange_->bytes_sent(rank); }
  int64_t bytes_sent() const;
  // Returns the final model of a node. Valid after Run.
  Vec model(Rank rank) const { return nodes_[rank].model; }
  const NetworkModel& network() const { return *network_; }
  // Returns how stale the gradients were that `rank` applied (Host::GradientApplied).
  Staleness staleness(Rank rank) const {
    return staleness_.empty() ? Staleness{} : staleness_[rank];
  }
  // Returns when the last round of `rank` was over. By then it has received all that it needs.
  Nanoseconds ended(Rank rank) const { return nodes_[rank].ended; }
  // Returns when `rank` came to rest. By then its peers have received all that it sent, and it
  // knows so.
  Nanoseconds rested(Rank rank) const { return nodes_[rank].rested; }

 private:
  // Events that wait for the exchange lane.
  struct Mailbox {
    std::vector<Event> events;
    size_t next = 0;
  };
  struct Node {
    std::unique_ptr<Algorithm> algorithm;
    Nanoseconds busy_until = 0;  // the exchange lane is busy until then
    std::unique_ptr<Mailbox> mailbox;
    Round gradient_round = -1;
    std::span<const int64_t> gradient_cuts;
    std::optional<double> gradient_loss;  // set once it is computed
    Nanoseconds gradient_begin = 0;
    Nanoseconds gradient_end = 0;
    Round limit = -1;  // the last limit that it has heard of; -1: none
    Round cut = 0;     // the last nominal round that it was measured in
    Vec model;
    Nanoseconds ended = 0;    // when its last round was over
    Nanoseconds rested = -1;  // when it came to rest; -1: not yet
    bool dead = false;
    uint32_t life = 0;            // how often it has come back
    const View* heard = nullptr;  // the last view that it has heard of; null: all nodes are members
    // Nodes that it has left out, and the epoch of the view.
    std::map<Member, uint32_t> left_out = {};
  };

  Simulation(const SimulationOptions& options, SimulationParts parts);

  absl::Status StartNodes();
  // Called when all events of this time have been handled.
  absl::Status EndMoment();
  // Lets the network share its bandwidth until no more credits become due by that and let messages
  // begin.
  void Settle();
  // Returns how much later than `begin_time` the node begins.
  Nanoseconds StartDelay(Rank rank) const;
  absl::Status ResumeNode(Rank rank);
  // Moves the limit to the one that is wanted, and tells the nodes whose own limits have moved.
  absl::Status ApplyLimit();
  Round LimitOf(Rank rank) const;
  // Returns the limit on a node's rounds, or steps: no node does more.
  Round StepLimit() const;
  // Counts the steps of the shared budget that the current node has done.
  void CountSteps(Round completed);
  // Leaves the steps that a lost worker has not done to the others.
  void LeaveBudget(Rank rank);
  // Counts the nominal rounds that are over. The last one is over when all nodes rest.
  void PassRounds();
  // Measure a node, and all nodes that rest, as often as is due.
  void TakeCuts(Rank rank, Nanoseconds when, Vec model);
  absl::Status TakeCutsAtRest();
  absl::Status Handle(const SimEvent& event);
  absl::Status OnGradientPart(Rank rank, uint32_t version);
  absl::Status OnGradient(Rank rank);
  absl::Status OnAlarm(const SimEvent& event);
  absl::Status OnArrival(MessageId id);
  absl::Status OnNotice(uint32_t index);
  absl::Status OnReceipt(MessageId id);
  absl::Status Resume(Rank rank);
  absl::Status Kill(Rank rank, Nanoseconds detection);
  absl::Status Return(Rank rank);
  absl::Status OnMembership(uint32_t news);
  absl::Status OnWake();
  // Returns whether nothing happens any more.
  bool Over();
  // Begins a new life of the node, with the view of `start`.
  absl::Status ComeIn(Rank rank, const Start& start);
  Membership& membership();
  // Ends what is under way between the current node and the nodes that are no longer in its view.
  void LeaveOut(const View& view);
  // Hands an event to a node at once, or when its exchange lane is free.
  absl::Status Deliver(Rank rank, const Event& event);
  absl::Status Dispatch(Rank rank, const Event& event);
  absl::Status CheckAllRest() const;

  // Queues a part of the current node's gradient.
  void PushGradientPart(Nanoseconds when, size_t part);
  // Occupies the current node's exchange lane.
  void Spend(Nanoseconds time);
  void SpendTraffic(int64_t bytes);

  // Host, for the node whose event is being handled:
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override;
  void Combine(Part out, std::span<const Term> terms) override;
  void Clip(Part part, double limit) override;
  void Step(const StepRequest& request) override;
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) override;
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  void Decline(Rank from, Tag tag) override;
  void Withdraw(Rank from, Tag tag) override;
  void GradientApplied(int64_t staleness) override;
  void Promise(uint32_t ballot, Round round) override;
  void BeginView(const View& view, Vec model) override;
  void Boundary(Round completed, Vec model) override;
  void Rest(Vec model) override;

  // AlarmClock:
  void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) override;
  void Buffered(FlowId flow, Nanoseconds now) override { exchange_->OnBuffered(flow, now); }

  const SimulationOptions options_;
  const SimulationParts parts_;
  SimQueue queue_;
  struct Death {
    Rank rank;
    Nanoseconds detection;
  };
  std::vector<Death> deaths_;  // all deaths: events point at them
  size_t wakes_ = 0;           // number of kWake events in the queue
  std::unique_ptr<NetworkModel> network_;
  std::unique_ptr<MessageExchange> exchange_;
  std::unique_ptr<Membership> membership_;  // set where views other than the first are possible
  std::vector<Node> nodes_;

  Nanoseconds now_ = 0;
  int64_t events_ = 0;
  Round limit_ = 0;
  Round wanted_limit_ = 0;
  bool stopped_ = false;
  Rank resting_ = 0;
  Rank living_ = 0;
  std::vector<Staleness> staleness_;  // by rank; empty until a gradient is applied
  std::optional<GradientBudget> budget_;
  std::vector<Rank> moved_;  // ranks whose limits have moved and that have not heard so
  Round passed_ = 0;         // nominal rounds of the budget that are over
  bool rest_cuts_due_ = false;

  Rank current_ = 0;        // the node whose event is being handled
  Nanoseconds cursor_ = 0;  // the exchange lane of that node is busy until then
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_SIMULATION_H_
