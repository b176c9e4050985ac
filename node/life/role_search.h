// The search of a node that has lost its coordinator: which node has that role now, or whether this
// one is to take it.
//
// Without I/O: what a store says of the role goes in, and what to do next comes out. The stores of
// real runs (node/discovery/store_discovery.h) and of simulated ones (tests/node/whole_node) are
// asked through this class alone.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_LIFE_ROLE_SEARCH_H_
#define GRAPEVINE_NODE_LIFE_ROLE_SEARCH_H_

#include <chrono>

namespace grapevine {

class RoleSearch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    Time begin;
    // The time for which other nodes have precedence where no node has the role.
    std::chrono::nanoseconds precedence{0};
    Time deadline;
  };
  // What the store says.
  struct Seen {
    bool over = false;       // the run has ended
    bool successor = false;  // a node has the role that did not have it before
    bool taken = false;      // some node has the role
    // The node that has the role is the one that was lost, and its process is gone for certain.
    bool abandoned = false;
  };
  enum class Step {
    kEnd,      // with the run
    kFollow,   // the successor
    kRelease,  // the role of a process that is gone, whose lease need not lapse first
    kTake,     // the role
    kWait,     // for the store to say something else
    kGiveUp,   // the search: the run goes on without this node, or not at all
  };

  explicit RoleSearch(const Options& options) : options_(options) {}

  Step Next(const Seen& seen, Time now) const;
  // Returns kWait or kGiveUp, where the store has not answered or has not done what was asked.
  Step AfterTrouble(Time now) const;

 private:
  // What another attempt takes.
  static constexpr std::chrono::milliseconds kRetry{250};

  const Options options_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LIFE_ROLE_SEARCH_H_
