// What a survey of hosts means for a run that is to begin there: what is well, what is not, and
// what to do about it.
//
// Pure functions, safe from any thread. What hosts say is untrusted: it is made printable and cut.
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
  kNotTried,  // nobody knows
  kWarning,   // a run can begin, but may be slower, or harder to understand
  kFailed,    // it cannot, or will fail
};

// "ok", "not tried", "warning", "failed".
std::string_view SeverityName(Severity severity);

struct Finding {
  std::string check;  // what was looked at: "names"
  Severity severity = Severity::kOk;
  std::string who;  // hosts
  std::string found;
  std::string remedy;  // empty: nothing is to be done
};

// What the run that is to begin needs.
struct RunNeeds {
  std::string build;  // all hosts that can be used have it
  bool tls = false;
  RankNames names = {};           // that certificates have
  int64_t descriptors = 0;        // of the node that opens most
  std::optional<int64_t> memory;  // bytes of each node's vectors; none: unknown
};

// One for each check that is well, and one for all hosts in which the same is wrong; in the order
// of the checks.
std::vector<Finding> FindingsOf(const Survey& survey, const RunNeeds& needs);

// The worst of them.
Severity WorstOf(const std::vector<Finding>& findings);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_FINDINGS_H_
