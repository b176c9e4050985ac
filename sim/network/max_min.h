// Max-min fair rates of flows that share links.
//
// No flow's rate can rise without lowering one that is no larger: every flow has a bottleneck,
// which is its own limit or a saturated link on which no flow is faster (Bertsekas and Gallager,
// Data Networks, section 6.5.2). The rates are unique. MaxMinRates is the plain definition;
// SharedLinks keeps them while flows come and go, and re-solves only what a change affects.
#ifndef GRAPEVINE_SIM_NETWORK_MAX_MIN_H_
#define GRAPEVINE_SIM_NETWORK_MAX_MIN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/network/network_model.h"
#include "sim/platform/platform.h"

namespace grapevine {

// What is left of a capacity, without rounding. The result does not depend on the order in which
// rates were taken and given back, and does not drift over any number of them. Rates are counted in
// units of 2^-80 bytes per nanosecond: exact for every double from 8 bytes a second upwards, and
// 10^14 bytes per nanosecond fit. Thread-compatible.
class RateSum {
 public:
  explicit RateSum(double capacity) : left_(Units(capacity)) {}

  void Take(double rate) { left_ -= Units(rate); }
  void GiveBack(double rate) { left_ += Units(rate); }
  // Returns what is left, as the nearest double.
  double left() const { return static_cast<double>(left_) * 0x1p-80; }

 private:
  static __int128 Units(double rate) { return static_cast<__int128>(rate * 0x1p80); }

  __int128 left_;
};

struct MaxMinFlow {
  std::span<const LinkId> route;  // without a link twice
  double max_rate = std::numeric_limits<double>::infinity();
};

// Returns one rate for each flow, by progressive filling: all rates rise together, and those on a
// link that is full, or at their own limit, stop. `capacities` has one positive number for each
// link; rates are in the same unit. A flow without links gets its max_rate. O(rounds * (links +
// flows)).
std::vector<double> MaxMinRates(std::span<const double> capacities,
                                std::span<const MaxMinFlow> flows);

// Max-min fair rates, kept up to date while flows come and go. A link's level is the rate of the
// flows that it holds back, because it is their bottleneck; the others on it are guests, slower and
// held back elsewhere. The rates are max-min fair if and only if
//   - level = (capacity - rates of guests) / (flows held back), on every link that
//     holds flows back, and
//   - no guest is faster than the level, and no link carries more than it can.
//
// A change opens the flows that it adds and touches the links on which flows begin and end. Open
// flows are filled progressively as by MaxMinRates, all others stay as they are; a link whose level
// differs from what the flows on it were promised opens these as well. If that overturns earlier
// decisions, all open flows are filled anew. The set of open flows only grows, so this ends, and
// then both conditions hold everywhere: the result is that of a full solution. Thread-compatible.
// Allocates nothing once it has seen as many flows as it ever has at once.
class SharedLinks {
 public:
  // Capacities must be positive.
  explicit SharedLinks(std::span<const Link> links);

  // Adds a flow in a free slot. A flow without links needs a finite max_rate. `route` must not have
  // a link twice.
  void Add(FlowId id, std::span<const LinkId> route, double max_rate);
  void Remove(FlowId id);

  // Makes the rates fair again, and returns the flows whose rates changed. The result is valid
  // until the next call.
  std::span<const FlowId> Solve();
  // Returns a flow's rate since the last Solve, in bytes per nanosecond.
  double rate(FlowId id) const { return flows_[id].rate; }

  // Returns how many flows Solve has filled so far. Its work is proportional to them.
  int64_t filled() const { return filled_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The flows of a link are three lists.
  enum List : uint32_t { kOpen, kHeldBack, kGuest };
  static constexpr size_t kLists = 3;

  // A flow on one of its links.
  struct Crossing {
    LinkId link;
    FlowId flow;
    List list;
    uint32_t previous;
    uint32_t next;
  };
  struct LinkState {
    RateSum left;  // the capacity less the guests' rates
    // The rate of the flows held back; no guest is faster. Infinite if no flow is held back.
    double level;
    double queued;  // level of its candidate; infinite without one
    std::array<uint32_t, kLists> first;
    uint32_t sharers;  // flows that are open or held back
    bool touched;
    bool decided;  // decided in this filling
  };
  struct FlowState {
    double rate = 0;
    double settled = 0;  // the rate that Solve returned last
    double max_rate = 0;
    uint32_t first_crossing = kNone;
    uint32_t hops = 0;
    uint32_t affected = kNone;  // its place in affected_
    bool open = false;
  };
  // A link that would be full at `level`, or a flow that would be at its limit.
  struct Candidate {
    double level;
    uint32_t index;
    bool is_flow;
  };

  uint32_t NewCrossings(uint32_t hops);
  void Insert(uint32_t crossing, List list);
  void Erase(uint32_t crossing);
  void Touch(LinkId link);
  static double Level(const LinkState& link);

  // Fills all open flows. Returns false if a decision was overturned by flows that were opened
  // after it.
  bool Fill();
  void FillFlow(FlowId id);
  void FillLink(LinkId id, double expected);
  void Decide(double level);
  void Close(FlowId id, double rate, LinkId bottleneck);
  void Open(FlowId id);
  // Opens flows that have kept their rates so far.
  void Affect(FlowId id);
  void AffectHeldBack(LinkId id);
  bool AffectFasterGuests(LinkId id, double level);
  void AffectNeighbours();
  // Makes the link a candidate at its level, unless it is one at a lower level.
  void Queue(LinkId id);
  void Push(const Candidate& candidate);

  std::vector<LinkState> links_;
  std::vector<FlowState> flows_;
  std::vector<Crossing> crossings_;
  std::vector<std::vector<uint32_t>> free_crossings_;  // by the number of hops

  std::vector<LinkId> touched_;
  std::vector<FlowId> affected_;
  std::vector<FlowId> changed_;
  std::vector<Candidate> candidates_;  // a heap
  double filled_to_ = 0;               // the highest level decided in this filling
  bool overturned_ = false;
  int64_t filled_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_MAX_MIN_H_
