// The wait for the nodes of a run that is to begin, or to be taken over: how long it is, and what
// is known of those who have not come.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_RENDEZVOUS_H_
#define GRAPEVINE_NODE_CONTROL_RENDEZVOUS_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "node/control/control_protocol.h"
#include "node/control/members.h"

namespace grapevine {

class Rendezvous {
 public:
  // All of `nodes` ranks are to come within `patience`.
  Rendezvous(Rank nodes, std::chrono::nanoseconds patience, SteadyTime now);

  // Extends the wait by `gap`, during which the coordinator listened to nobody.
  void Postpone(std::chrono::nanoseconds gap) { until_ += gap; }
  bool IsOver(SteadyTime now) const { return now >= until_; }

  // Notes why a rank is not there, phrased to follow "rank 3 ". Other ranks than the run's are
  // ignored.
  void NoteAbsence(Rank rank, std::string why);
  // Returns who is missing, and why, as far as that is known: "rank 3 is missing; rank 3 left: …".
  std::string Missing(const Members& members) const;
  // Returns what the log is to say about the wait, once in kNoticeInterval.
  std::optional<std::string> Notice(const Members& members, SteadyTime now);

  static constexpr std::chrono::milliseconds kNoticeInterval{10000};

 private:
  const Rank nodes_;
  SteadyTime until_;
  SteadyTime next_notice_;
  std::map<Rank, std::string> absences_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_RENDEZVOUS_H_
