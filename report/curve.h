// Which runs make one curve, and what it is called.
#ifndef GRAPEVINE_REPORT_CURVE_H_
#define GRAPEVINE_REPORT_CURVE_H_

#include <span>
#include <string>
#include <vector>

#include "report/run_reader.h"

namespace grapevine {

// Runs that differ in the seed alone.
struct Curve {
  std::string label;  // "ring, dpsgd, lr=0.1 (3 seeds)"
  std::vector<const RecordedRun*> runs;
};

// In the order of the first run of each. A label names topology and algorithm,
// and every other setting in which the curves differ. The runs must outlive the
// result.
std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs);

// What all runs have in common: "lenet5 on mnist, 8 nodes, batch 32, lr 0.05".
std::string CommonTitle(std::span<const RecordedRun> runs);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_CURVE_H_
