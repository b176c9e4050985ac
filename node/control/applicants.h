// Processes that wait to come into a run, at most one for each rank.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_APPLICANTS_H_
#define GRAPEVINE_NODE_CONTROL_APPLICANTS_H_

#include <map>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/dispatch.h"

namespace grapevine {

struct Applicant {
  SessionId session;
  control::Registration registration;
};

class Applicants {
 public:
  // Takes the place of another one for that rank, if there is one.
  void Add(Applicant applicant);
  // Null if nobody waits for this rank.
  const Applicant* Find(Rank rank) const;
  std::optional<Applicant> Take(Rank rank);
  std::map<Rank, Applicant> TakeAll() { return std::exchange(waiting_, {}); }
  // Drops the applicant whose session is over. Returns its rank; none if it was nobody's.
  std::optional<Rank> Forget(SessionId session);

 private:
  std::map<Rank, Applicant> waiting_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_APPLICANTS_H_
