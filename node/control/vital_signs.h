// Keeps track of the nodes of a run by what each has last said: which are silent, which are slow,
// and whether all wait for one another. Without I/O.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_VITAL_SIGNS_H_
#define GRAPEVINE_NODE_CONTROL_VITAL_SIGNS_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "node/control/blame.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/silence.h"
#include "run/records/run_standing.h"

namespace grapevine {

class VitalSigns {
 public:
  struct Options {
    std::chrono::milliseconds peer_timeout;
    // The least that the limit of a connected node's silence may be (--min-peer-timeout); at most
    // peer_timeout.
    std::chrono::milliseconds least_silence;
    std::chrono::milliseconds step_timeout;
  };
  explicit VitalSigns(const Options& options) : options_(options) {}

  // Adds a node, as if it had just moved.
  void Begin(Rank rank, const std::string& address, SteadyTime now);
  void End(Rank rank) { nodes_.erase(rank); }
  // Reports that the node has said something.
  void OnHeard(Rank rank, SteadyTime now) { nodes_.at(rank).silence.End(now); }
  void OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat, SteadyTime now);
  // Reports the node's round, before its next heartbeat does.
  void OnRound(Rank rank, Round round, SteadyTime now);
  // Report that the node's connection is broken, and that it exists again. What comes before its
  // return proves nothing.
  void OnBroken(Rank rank) { nodes_.at(rank).connected = false; }
  void OnReturn(Rank rank, SteadyTime now);
  // Reports that the node has something else to do now.
  void OnMove(Rank rank, SteadyTime now) { nodes_.at(rank).moved = now; }
  // Excuses all nodes, which have waited for something that is none of their doing: none is stuck
  // or slow until that shows anew.
  void Excuse(SteadyTime now);
  // Extends all deadlines by `gap`, until `now`, during which nobody listened to the nodes.
  void Postpone(std::chrono::nanoseconds gap, SteadyTime now);

  SteadyTime last_heard(Rank rank) const { return nodes_.at(rank).silence.last_heard(); }
  // Returns, for example, "0.3 s".
  std::string SilentFor(Rank rank, SteadyTime now) const;
  // Returns, for example, "round 7, waiting".
  std::string At(Rank rank) const;
  // Return the ranks, or the first of them, that must do something before this one can go on; none
  // if it has work of its own.
  std::vector<Rank> Awaited(Rank rank) const;
  std::optional<Rank> FirstAwaited(Rank rank) const;
  // Returns, for example, ", while ranks 1, 2 wait for it"; empty if no node does.
  std::string WhoWaitsFor(Rank rank) const;

  // Returns a node that has been silent for too long, if any. At least one node must exist.
  std::optional<Blame> Silent(SteadyTime now) const;
  // Returns the positions of the nodes that are not done, as each has last reported; nothing if all
  // are done.
  std::optional<RunStanding> Standing(const std::function<bool(Rank)>& done) const;
  // Returns why nothing moves, if all nodes that are not done wait for one another, and had done so
  // for 1.5 peer_timeout when each last spoke.
  std::optional<std::string> Stuck(const std::function<bool(Rank)>& done) const;
  // Returns a node that has not moved for step_timeout, although it waits for no other. Adds to
  // `notices` the nodes that have been in a round for long while others wait for them, once for
  // each round.
  std::optional<Blame> Slow(SteadyTime now, const std::function<bool(Rank)>& done,
                            std::vector<std::string>* notices);

 private:
  struct Node {
    std::string address;
    bool connected = true;
    control::Heartbeat heartbeat;  // the last heartbeat
    Silence silence;
    SteadyTime moved;        // when its progress, or the ranks that it waits for, last changed
    SteadyTime round_since;  // when its round last changed
    SteadyTime waits_since;  // since when it waits in this round
    Round slow_noticed = -1;
  };

  // Returns how long the node had stood still when it last spoke: it may have gone on since.
  static std::chrono::nanoseconds StoodStill(const Node& node) {
    return node.silence.last_heard() - node.moved;
  }
  // Returns the node for which this one waits first, if that node is known.
  const Node* FirstAwaited(const Node& node) const;
  // Returns the longest wait for a node that does not wait itself.
  std::optional<StandingWait> LongestWait(const std::function<bool(Rank)>& done) const;
  // Returns how long this node's silence may last. A connection that is known to be broken may be
  // made again.
  std::chrono::nanoseconds LongestSilence(const Node& node) const;

  const Options options_;
  std::map<Rank, Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_VITAL_SIGNS_H_
