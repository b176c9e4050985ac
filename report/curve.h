// Which runs make one curve, and what it is called.
#ifndef GRAPEVINE_REPORT_CURVE_H_
#define GRAPEVINE_REPORT_CURVE_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "report/run_reader.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Whether a run was simulated: real nodes keep nothing of a simulated cluster.
bool IsSimulated(const Config& config);

// What trains: "ring, dpsgd", or "allreduce:tree".
std::string MethodName(const Config& config);

// For each configuration its method, every setting of the experiment in which the
// configurations differ, and every one of the simulated cluster in which the simulated
// ones do, but for seeds and what is `apart`; "simulated" where not all are. Equal for
// those that belong to one curve.
std::vector<std::string> CurveLabels(std::span<const Config* const> configs,
                                     const std::set<std::string>& apart = {});

// Runs that differ in the seed alone, or in a graph that plays no part.
struct Curve {
  std::string label;  // "ring, dpsgd, lr=0.1 (3 seeds)"
  std::vector<const RecordedRun*> runs;
};

// In the order of the first run of each. The runs must outlive the result.
std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs);

// What all have in common: "lenet5 on mnist, 8 nodes, batch 32, lr 0.05".
std::string CommonTitle(std::span<const Config* const> configs);

// Pointers to the runs' configurations, in their order.
std::vector<const Config*> ConfigsOf(std::span<const RecordedRun> runs);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_CURVE_H_
