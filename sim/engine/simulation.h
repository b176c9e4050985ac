// Drives n algorithms in one process: the simulated counterpart of n runners.
//
// A virtual node has two lanes, like the runtime's: gradients on one, and on the other everything
// that its runner's thread does (events, mixing). An event that finds the second lane busy waits in
// the node's mailbox. No algorithm is implemented here: they are those that real nodes run.
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
  // The ranks below share a budget of gradients, of as many rounds each as Run is given, and limits
  // move without delay; 0: all nodes do the same rounds.
  Rank sharing = 0;
  // Steps between two exchanges of such a rank.
  Round window = 1;
  // Bytes per nanosecond that mixing reads and writes; infinite: for free.
  double memory_bandwidth = std::numeric_limits<double>::infinity();
  // Time of the exchange lane that sending or receiving one message takes.
  Nanoseconds message_overhead = 0;
  // Of a neighbour's message (algorithm/receiving.h).
  double max_norm = kAnyNorm;
  // Of nodes that die: with fewer than `least` left, those wait for others to come in, so long.
  Rank least = 0;
  Nanoseconds patience = std::numeric_limits<Nanoseconds>::max();
  // All nodes begin in this round, at this time; those that share a budget when so many nominal
  // rounds are over, of which each has `done` so many steps (empty: one a round).
  std::vector<Round> done = {};
  Round begin = 0;
  Nanoseconds begin_time = 0;
  // or, unless they resume, each at random up to so much later, by this seed.
  Nanoseconds start_spread = 0;
  uint64_t seed = 0;
};

// All outlive the simulation; `effects`, `observer` and `interrupted` may be null.
struct SimulationParts {
  std::function<std::unique_ptr<NetworkModel>(AlarmClock*)> make_network;
  // Of a node's process: another one when it comes back (ReturnAt).
  std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(Rank)> make_algorithm;
  // With what state a node begins; empty: none has one.
  std::function<absl::StatusOr<NodeState>(Rank)> resume = nullptr;
  VectorStore* vectors = nullptr;
  const ComputeTime* compute = nullptr;
  const MessageEffects* effects = nullptr;
  SimObserver* observer = nullptr;
  // Ends Run with kInterrupted once set, from any thread.
  const std::atomic<bool>* interrupted = nullptr;
};

// Thread-compatible.
class Simulation final : private StoreHost, private AlarmClock {
 public:
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const SimulationOptions& options,
                                                          SimulationParts parts);
  ~Simulation() override;

  // Runs until every node rests at `limit` and the budget, if there is one, is used up; or it is
  // stopped. Errors name the node and the round: a
  // gradient's or the observer's, or a node that waits for a message that cannot come.
  absl::Status Run(Round limit);
  // Moves the limit outwards while Run lasts (from the observer).
  void ExtendLimit(Round limit) { wanted_limit_ = std::max(wanted_limit_, limit); }
  // Shows the state of the node whose boundary it is (from the observer's OnBoundary).
  absl::Status VisitState(Rank rank, StateVisitor& state) {
    return nodes_[rank].algorithm->VisitState(state, *this);
  }
  // The node dies then, not before now: it does nothing any more. So much later the others know of
  // it, and agree to go on without it; where their algorithm cannot
  // (algorithm/membership/resilient_algorithm.h), Run ends with its error.
  void KillAt(Rank rank, Nanoseconds when, Nanoseconds detection = 0);
  // If the node is dead then, another process takes its place, and comes in as soon as the others
  // have agreed; unless the run has no round left for it.
  void ReturnAt(Rank rank, Nanoseconds when);
  // The observer hears of that time (OnWake), not before now, unless all rest by then.
  void WakeAt(Nanoseconds when);
  // That a node has completed.
  Round round(Rank rank) const { return nodes_[rank].algorithm->round(); }
  bool alive(Rank rank) const { return !nodes_[rank].dead; }
  Rank nodes() const { return options_.nodes; }
  Rank living() const { return living_; }
  // The most members that any view has had that held within `memory` before now.
  Rank MostMembers(Nanoseconds memory) const {
    return membership_ ? membership_->MostMembers(now_, memory) : options_.nodes;
  }
  // The latest that was agreed upon; null where there is none but the first.
  const View* view() const { return membership_ ? &membership_->view() : nullptr; }
  // All nodes go over to another view with the same members, for that checkpoint
  // (View::checkpoint): of algorithms whose members may change.
  void Renew(Round checkpoint) { membership().Renew(checkpoint, now_); }
  // Ends Run at once, whatever the nodes are doing (from the observer).
  void Stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  // When the last event happened.
  Nanoseconds now() const { return now_; }
  int64_t events() const { return events_; }
  // The bytes of all requested messages: at a boundary, of the completed rounds.
  int64_t bytes_sent(Rank rank) const { return exchange_->bytes_sent(rank); }
  int64_t bytes_sent() const;
  // The final model of a node, after Run.
  Vec model(Rank rank) const { return nodes_[rank].model; }
  const NetworkModel& network() const { return *network_; }
  // How stale the gradients were that `rank` applied (Host::GradientApplied).
  Staleness staleness(Rank rank) const {
    return staleness_.empty() ? Staleness{} : staleness_[rank];
  }
  // When the last round of `rank` was over: then it has received all that it needs.
  Nanoseconds ended(Rank rank) const { return nodes_[rank].ended; }
  // When `rank` came to rest: when its peers have all that it sent, too, and it knows.
  Nanoseconds rested(Rank rank) const { return nodes_[rank].rested; }

 private:
  // Events that wait for the exchange lane.
  struct Mailbox {
    std::vector<Event> events;
    size_t next = 0;
  };
  struct Node {
    std::unique_ptr<Algorithm> algorithm;
    Nanoseconds busy_until = 0;  // the exchange lane
    std::unique_ptr<Mailbox> mailbox;
    Round gradient_round = -1;
    std::span<const int64_t> gradient_cuts;
    std::optional<double> gradient_loss;  // once it is computed
    Nanoseconds gradient_begin = 0;
    Nanoseconds gradient_end = 0;
    Round limit = -1;  // that it has heard of; none: -1
    Round cut = 0;     // the last nominal round that it was measured in
    Vec model;
    Nanoseconds ended = 0;    // its last round
    Nanoseconds rested = -1;  // not yet: -1
    bool dead = false;
    uint32_t life = 0;                         // how often it has come back
    const View* heard = nullptr;               // the last that it has heard of; none: all are in
    std::map<Member, uint32_t> left_out = {};  // and by which view
  };

  Simulation(const SimulationOptions& options, SimulationParts parts);

  absl::Status StartNodes();
  // All that happens at this time has been handled.
  absl::Status EndMoment();
  // The network shares its bandwidth, until no credit that is due by that lets a message begin.
  void Settle();
  // How much later than the others it begins.
  Nanoseconds StartDelay(Rank rank) const;
  absl::Status ResumeNode(Rank rank);
  // Moves it to the one that is wanted; the nodes whose own has moved hear so.
  absl::Status ApplyLimit();
  Round LimitOf(Rank rank) const;
  // No node does so many rounds, or steps.
  Round StepLimit() const;
  // The current node has done so many steps of a shared budget.
  void CountSteps(Round completed);
  // What a lost worker has not done is for the others.
  void LeaveBudget(Rank rank);
  // Counts the nominal rounds that are over: the last one when all nodes rest.
  void PassRounds();
  // Measures a node as often as is due, and all that rest.
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
  // Whether nothing happens any more.
  bool Over();
  // The node's life begins anew, with that view.
  absl::Status ComeIn(Rank rank, const Start& start);
  Membership& membership();
  // Ends what is under way between the current node and those that are no longer in its view.
  void LeaveOut(const View& view);
  // Hands an event to a node: now, or when its lane is free.
  absl::Status Deliver(Rank rank, const Event& event);
  absl::Status Dispatch(Rank rank, const Event& event);
  absl::Status CheckAllRest() const;

  // For the current node.
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
  std::vector<Death> deaths_;  // all: events point at them
  size_t wakes_ = 0;           // in the queue
  std::unique_ptr<NetworkModel> network_;
  std::unique_ptr<MessageExchange> exchange_;
  std::unique_ptr<Membership> membership_;  // where there may be other views
  std::vector<Node> nodes_;

  Nanoseconds now_ = 0;
  int64_t events_ = 0;
  Round limit_ = 0;
  Round wanted_limit_ = 0;
  bool stopped_ = false;
  Rank resting_ = 0;
  Rank living_ = 0;
  std::vector<Staleness> staleness_;  // of each node, once there is any
  std::optional<GradientBudget> budget_;
  std::vector<Rank> moved_;  // whose limits have moved, and who have not heard so
  Round passed_ = 0;         // nominal rounds of the budget
  bool rest_cuts_due_ = false;

  Rank current_ = 0;        // whose event is being handled
  Nanoseconds cursor_ = 0;  // its exchange lane is busy until then
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_SIMULATION_H_
