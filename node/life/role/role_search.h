// The search of a node that has lost its coordinator: which node has that role now, or whether this
// one is to take it.
//
// Without I/O: what a store says of the role goes in, and what to do next comes out. The stores of
// real runs (node/discovery/store_discovery.h) and of simulated ones (tests/node/whole_node) are
// asked through this class alone.
//
// A node that takes the role then claims it, on condition that nobody has claimed it since the
// store was looked at: it may have stood still meanwhile, for so long that another node has had the
// role and has ended the run.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_LIFE_ROLE_ROLE_SEARCH_H_
#define GRAPEVINE_NODE_LIFE_ROLE_ROLE_SEARCH_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/ids.h"

namespace grapevine {

class RoleSearch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    Rank lost = 0;       // the node that had the role
    uint64_t known = 0;  // the tenure of that node; 0 if it is not known
    bool gone = false;   // whether the process of that node is gone for certain
    uint64_t own = 0;    // the tenure with which this node is to take the role
    Time begin;
    // The time for which other nodes have precedence where no node has the role.
    std::chrono::nanoseconds precedence{0};
    Time deadline;
  };
  // The node that has the role, as it has announced itself.
  struct Holder {
    Rank rank = 0;
    uint64_t tenure = 0;           // unlike those of all nodes that had the role before
    bool on_this_machine = false;  // and on no other
  };
  // What the store says.
  struct Seen {
    bool over = false;             // the run has ended
    bool taken = false;            // some process has the role
    std::optional<Holder> holder;  // that process, if it is a node of this run
  };
  enum class Step {
    kEnd,     // with the run
    kFollow,  // the holder that was seen
    // The role of a process that is gone, or of an attempt of this node whose answer was lost: the
    // lease need not lapse first.
    kRelease,
    kTake,  // the role
    kWait,  // for the store to say something else
    // The search: the run goes on without this node, or not at all. A node that comes to itself
    // only after the deadline may have been left out by one that had the role meanwhile.
    kGiveUp,
  };

  explicit RoleSearch(const Options& options) : options_(options), known_(options.known) {}

  Step Next(const Seen& seen, Time now);
  // Returns kWait or kGiveUp, where the store has not answered or has not done what was asked.
  Step AfterTrouble(Time now) const;
  // Returns the tenure of the latest holder that is known; 0 if none is.
  uint64_t known() const { return known_; }

 private:
  // What another attempt takes.
  static constexpr std::chrono::milliseconds kRetry{250};

  bool IsSuccessor(const Holder& holder) const;

  const Options options_;
  uint64_t known_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LIFE_ROLE_ROLE_SEARCH_H_
