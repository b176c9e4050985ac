// How the nodes of a run do, from what each has last said: who is silent, who is slow, and whether
// all wait for one another. Without I/O.
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
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/silence.h"
#include "run/records/run_standing.h"

namespace grapevine {

class VitalSigns {
 public:
  struct Options {
    std::chrono::milliseconds peer_timeout;
    // The least that the limit of a connected node's silence may be (--min-peer-timeout); no more
    // than peer_timeout.
    std::chrono::milliseconds least_silence;
    std::chrono::milliseconds step_timeout;
  };
  explicit VitalSigns(const Options& options) : options_(options) {}

  // A node is there, as if it had just moved.
  void Begin(Rank rank, const std::string& address, SteadyTime now);
  void End(Rank rank) { nodes_.erase(rank); }
  // It has said something.
  void OnHeard(Rank rank, SteadyTime now) { nodes_.at(rank).silence.End(now); }
  void OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat, SteadyTime now);
  // It has said so before its next heartbeat does.
  void OnRound(Rank rank, Round round, SteadyTime now);
  // Its connection is broken, and is there again: what comes before that proves nothing.
  void OnBroken(Rank rank) { nodes_.at(rank).connected = false; }
  void OnReturn(Rank rank, SteadyTime now);
  // It has something else to do now.
  void OnMove(Rank rank, SteadyTime now) { nodes_.at(rank).moved = now; }
  // They have waited for what is none of their doing: nobody is stuck or slow before that shows.
  void Excuse(SteadyTime now);
  // Nobody was listened to for so long, until `now`, and nobody's time has passed.
  void Postpone(std::chrono::nanoseconds gap, SteadyTime now);

  SteadyTime last_heard(Rank rank) const { return nodes_.at(rank).silence.last_heard(); }
  // "0.3 s".
  std::string SilentFor(Rank rank, SteadyTime now) const;
  // "round 7, waiting".
  std::string At(Rank rank) const;
  // Whose doing it needs in order to go on, and first; none: it has work of its own.
  std::vector<Rank> Awaited(Rank rank) const;
  std::optional<Rank> FirstAwaited(Rank rank) const;
  // ", while ranks 1, 2 wait for it"; empty if nobody does.
  std::string WhoWaitsFor(Rank rank) const;

  struct Finding {
    Rank rank;
    std::string message;
  };
  // Who has been silent for too long; there is at least one node.
  std::optional<Finding> Silent(SteadyTime now) const;
  // Where those are who are not done, as each has last said; nothing where all are.
  std::optional<RunStanding> Standing(const std::function<bool(Rank)>& done) const;
  // Why nothing moves: all wait for one another who are not done, and had for 1.5 peer_timeout
  // when each last spoke.
  std::optional<std::string> Stuck(const std::function<bool(Rank)>& done) const;
  // Who has not moved for step_timeout, though it waits for nobody. `notices`: of those who have
  // been in a round for long while others wait for them, once for each round.
  std::optional<Finding> Slow(SteadyTime now, const std::function<bool(Rank)>& done,
                              std::vector<std::string>* notices);

 private:
  struct Node {
    std::string address;
    bool connected = true;
    control::Heartbeat heartbeat;  // the last
    Silence silence;
    SteadyTime moved;        // when its progress, or whom it waits for, last changed
    SteadyTime round_since;  // when its round did
    SteadyTime waits_since;  // in this round, while it waits
    Round slow_noticed = -1;
  };

  // How long it had stood still when it last spoke: since then it may have gone on.
  static std::chrono::nanoseconds StoodStill(const Node& node) {
    return node.silence.last_heard() - node.moved;
  }
  // For whom it waits first, as a node that is known.
  const Node* FirstAwaited(const Node& node) const;
  // The longest wait for somebody who does not wait himself.
  std::optional<StandingWait> LongestWait(const std::function<bool(Rank)>& done) const;
  // How long this one's silence may last: a connection that is known to be broken may be made
  // again.
  std::chrono::nanoseconds LongestSilence(const Node& node) const;

  const Options options_;
  std::map<Rank, Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_VITAL_SIGNS_H_
