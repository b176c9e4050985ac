// The curves of a picture: which runs, or cells of a sweep, form a curve, what the curve is called,
// and, where a run is a single point, the points of the curve.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_CURVE_H_
#define GRAPEVINE_REPORT_CURVE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "report/run_reader.h"
#include "report/series.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Returns whether a run was simulated: real nodes record no settings of a simulated cluster.
bool IsSimulated(const Config& config);

// Returns the words that go before "time": "simulated " if all runs have the simulator's clock,
// "real or simulated " if some have; else "".
std::string ClockName(std::span<const Config* const> configs);

// Returns the name of the method: "ring, dpsgd", or "allreduce:tree".
std::string MethodName(const Config& config);

// Returns whether `compute` follows from the other settings instead of being one itself: the models
// learn, each time is fixed, and no two configurations that are otherwise alike differ in it. This
// is so if --compute was not given and every simulated run has timed its own gradient; a run
// records that time as if it had been given.
bool TimesOfGradientsFollow(std::span<const Config* const> configs);

// Returns a label for each configuration: its method, every setting of the run (DescribesRun) in
// which the configurations differ, every setting of the simulated cluster in which the simulated
// configurations differ, and "simulated" if only some of them are. Leaves out seeds, times for
// which TimesOfGradientsFollow holds, and the settings in `apart`. Labels are equal for
// configurations that belong to one curve.
std::vector<std::string> CurveLabels(std::span<const Config* const> configs,
                                     const std::set<std::string>& apart = {});

// The runs of one curve, which differ only in the seed, or in a graph that plays no part.
struct Curve {
  std::string label;  // "ring, dpsgd, lr=0.1"; "... (3 seeds)" if curves differ in the number
  std::vector<const RecordedRun*> runs;
};

// Groups runs into curves, in the order of each curve's first run. The runs must outlive the
// result.
std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs);

// Returns the indices of the simulated curves; empty unless some curves are real.
std::set<size_t> SimulatedBesideReal(const std::vector<Curve>& curves);

// Returns what all configurations have in common: "lenet5 on mnist, 8 nodes, batch 32, lr 0.05",
// and "3 seeds" if every curve has three.
std::string CommonTitle(std::span<const Config* const> configs);

// Returns pointers to the runs' configurations, in the order of the runs.
std::vector<const Config*> ConfigsOf(std::span<const RecordedRun> runs);

// A quantity of a cell of a sweep, that is, of a whole run; absent if the cell has none.
using CellValue = std::function<std::optional<double>(const SweptCell&)>;

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells);

// The label of every cell's curve, and the distinct labels in order.
struct CellLabels {
  std::vector<std::string> of_cell;
  std::vector<std::string> distinct;
};

// Returns the labels that CurveLabels gives; `apart` names the settings that are on an axis.
CellLabels LabelsOf(std::span<const Config* const> configs, const std::set<std::string>& apart);
CellLabels LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart);

// Returns the indices in labels.distinct of the simulated curves; empty unless some curves are
// real.
std::set<size_t> SimulatedBesideReal(std::span<const Config* const> configs,
                                     const CellLabels& labels);

// The point of one run; a run that lacks one of the two has no point.
struct RunPoint {
  std::optional<double> x, y;
};

// Returns one curve for each distinct label. `points` are in the order of labels.of_cell; runs that
// differ only in the seed (or in a graph that plays no part) become one point of a curve.
std::vector<Band> BandsOfPoints(std::span<const RunPoint> points, const CellLabels& labels);

// Returns one curve for each distinct label, as BandsOfPoints does, with a point (x, y) per cell.
std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const CellLabels& labels,
                               const CellValue& x, const CellValue& y);

// Returns all values that occur in `cells`.
std::set<double> ValuesOf(std::span<const SweptCell> cells, const CellValue& value);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_CURVE_H_
