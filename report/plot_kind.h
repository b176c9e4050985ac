// The kinds of `grapevine plot`: what each makes of runs.
//
// One registers itself in the file that defines it (report/kinds/), and the command, its help and
// its errors find it in the registry.
//
// Thread-safety: a kind is immutable once registered; functions are safe from any thread.
#ifndef GRAPEVINE_REPORT_PLOT_KIND_H_
#define GRAPEVINE_REPORT_PLOT_KIND_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "report/figure.h"
#include "report/series.h"

namespace grapevine {

// What is asked of a kind.
struct PlotRequest {
  std::vector<std::string> runs;  // run directories, or folders of them
  // Against what, and which loss; empty: the kind's own choice.
  std::string x;
  std::string loss;
  std::string target;  // an accuracy; empty: the runs' own
};

struct PlotKind {
  std::string name;             // "step-time"
  std::string options;          // none
  std::string help;             // one line
  std::set<std::string> flags;  // of the request, those that mean something to it: "--x"
  // Errors are kUsage or kInput, and name the flag of the plot, the run, or the flag of the runs
  // whose value or list is missing.
  std::function<absl::StatusOr<Figure>(const PlotRequest&)> make;
};

Registry<PlotKind>& PlotKinds();

// Which loss is asked for, or else the kind's usual one. kUsage.
absl::StatusOr<Vertical> LossOf(const PlotRequest& request, Vertical usual);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PLOT_KIND_H_
