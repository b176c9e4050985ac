// Max-min fair rates (max_min.h) of flows that come and go: solves again only
// what a change affects.
//
// Every flow has a bottleneck: the link on which it is one of the fastest, or its
// own limit. A link's level is the rate of the flows that it holds back so; the
// others on it are guests, slower and held back elsewhere. In these terms the
// rates are max-min fair if and only if
//   - level = (capacity - rates of guests) / (flows held back), on every link that
//     holds flows back, and
//   - no guest is faster than the level, and no link carries more than it can.
//
// A change opens the flows that it adds and touches the links on which flows
// begin and end. Open flows are filled progressively as in max_min.h, all others
// stay as they are; a link whose level comes out otherwise than the flows on it
// were promised opens these as well. If that overturns what was decided before
// it, all open flows are filled anew. What is open only grows, so this ends, and
// when it does both conditions hold everywhere: the result is that of a full
// solution.
#ifndef GRAPEVINE_SIM_NETWORK_SHARED_LINKS_H_
#define GRAPEVINE_SIM_NETWORK_SHARED_LINKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/network_model.h"
#include "sim/network/rate_sum.h"
#include "sim/platform/link.h"

namespace grapevine {

// Thread-compatible. Allocates nothing once it has seen as many flows as it ever
// has at once.
class SharedLinks {
 public:
  // Capacities are positive.
  explicit SharedLinks(std::span<const Link> links);

  // A flow in a slot that is free. Without links it needs a finite max_rate.
  // `route` has no link twice.
  void Add(FlowId id, std::span<const LinkId> route, double max_rate);
  void Remove(FlowId id);

  // Makes the rates fair again, and returns the flows whose rates changed; valid
  // until the next call.
  std::span<const FlowId> Solve();
  // In bytes per nanosecond, since the last Solve.
  double rate(FlowId id) const { return flows_[id].rate; }

  // Flows that were filled by Solve so far: what the work is proportional to.
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
    RateSum left;  // the capacity without the guests
    // Of the flows held back; no guest is faster. Infinite without such flows.
    double level;
    double queued;  // its candidate; infinite without one
    std::array<uint32_t, kLists> first;
    uint32_t sharers;  // open and held back
    bool touched;
    bool decided;  // in this filling
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

  // Fills all open flows; false when a decision was overturned by flows that were
  // opened after it.
  bool Fill();
  void FillFlow(FlowId id);
  void FillLink(LinkId id, double expected);
  void Decide(double level);
  void Close(FlowId id, double rate, LinkId bottleneck);
  void Open(FlowId id);
  // Opens flows that were as they are so far.
  void Affect(FlowId id);
  void AffectHeldBack(LinkId id);
  bool AffectFasterGuests(LinkId id, double level);
  void AffectNeighbours();
  // The link becomes a candidate at its level, unless it is one at a lower.
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

#endif  // GRAPEVINE_SIM_NETWORK_SHARED_LINKS_H_
