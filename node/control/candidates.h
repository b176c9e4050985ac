// Processes that wait to come into a run, at most one for each rank.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CANDIDATES_H_
#define GRAPEVINE_NODE_CONTROL_CANDIDATES_H_

#include <map>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/dispatch.h"

namespace grapevine {

struct Candidate {
  SessionId session;
  control::Registration registration;
};

class Candidates {
 public:
  // Takes the place of another candidate for that rank, if there is one.
  void Add(Candidate candidate);
  // Null if nobody waits for this rank.
  const Candidate* Find(Rank rank) const;
  std::optional<Candidate> Take(Rank rank);
  std::map<Rank, Candidate> TakeAll() { return std::exchange(waiting_, {}); }
  // Drops the candidate whose session is over. Returns its rank; none if it was nobody's.
  std::optional<Rank> Forget(SessionId session);

 private:
  std::map<Rank, Candidate> waiting_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CANDIDATES_H_
