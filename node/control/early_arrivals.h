// What comes too early for a coordinator that has yet to take a run over: reports about the run,
// and processes that want to come in.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_EARLY_ARRIVALS_H_
#define GRAPEVINE_NODE_CONTROL_EARLY_ARRIVALS_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "node/control/applicants.h"
#include "node/control/control.pb.h"
#include "node/control/dispatch.h"

namespace grapevine {

class EarlyArrivals {
 public:
  explicit EarlyArrivals(Rank nodes)
      : most_reports_(static_cast<size_t>(nodes) * static_cast<size_t>(nodes + 2)) {}

  // Keeps a member's report. A node sends at most one about each of its peers, one about itself,
  // and one that it is done; more are dropped.
  void Keep(Rank rank, const control::Report& report) {
    if (reports_.size() < most_reports_) reports_.emplace_back(rank, report);
  }
  void Keep(Applicant applicant) { applicants_.Add(std::move(applicant)); }
  // Drops the applicant whose session is over, if it was one's.
  void Forget(SessionId session) { applicants_.Forget(session); }

  // In the order in which they came.
  std::vector<std::pair<Rank, control::Report>> TakeReports() {
    return std::exchange(reports_, {});
  }
  std::map<Rank, Applicant> TakeApplicants() { return applicants_.TakeAll(); }

 private:
  const size_t most_reports_;
  std::vector<std::pair<Rank, control::Report>> reports_;
  Applicants applicants_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_EARLY_ARRIVALS_H_
