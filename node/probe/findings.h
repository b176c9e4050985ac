// Findings say what a survey of hosts means for a run that is to begin there: what is well, what is
// not, and what to do about it.
//
// Pure functions, safe from any thread. The texts that hosts send are untrusted: they are made
// printable and cut.
#ifndef GRAPEVINE_NODE_PROBE_FINDINGS_H_
#define GRAPEVINE_NODE_PROBE_FINDINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/identity/authentication.h"
#include "node/probe/survey.h"

namespace grapevine {

enum class Severity {
  kOk,
  kNotTried,  // not known
  kWarning,   // a run can begin, but may be slower, or harder to understand
  kFailed,    // a run cannot begin, or will fail
};

// Returns "ok", "not tried", "warning" or "failed".
std::string_view SeverityName(Severity severity);

struct Finding {
  std::string check;  // the name of the check: "names"
  Severity severity = Severity::kOk;
  std::string who;  // the hosts, for people
  std::string found;
  std::string remedy;  // empty if nothing is to be done
};

// The needs of the run that is to begin.
struct RunNeeds {
  std::string build;  // the build that all usable hosts have
  bool tls = false;
  RankNames names = {};           // the names that certificates have
  int64_t descriptors = 0;        // descriptors of the node that opens most
  std::optional<int64_t> memory;  // bytes of each node's vectors; none if unknown
};

// Returns one finding for each check without problems, and one finding for all hosts that have a
// problem in common; in the order of the checks.
std::vector<Finding> FindingsOf(const Survey& survey, const RunNeeds& needs);

// Returns the worst severity of the findings; kOk if there are none.
Severity WorstOf(const std::vector<Finding>& findings);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_FINDINGS_H_
