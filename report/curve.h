// Which runs, or cells of a sweep, form one curve, what it is called, and, where a run is one
// point of it, its points.
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

// Whether a run was simulated: real nodes record no settings of a simulated cluster.
bool IsSimulated(const Config& config);

// Before "time": "simulated ", where all runs have the simulator's clock, "real or simulated ",
// where some have; else "".
std::string ClockName(std::span<const Config* const> configs);

// The method: "ring, dpsgd", or "allreduce:tree".
std::string MethodName(const Config& config);

// Whether the configurations' `compute` is no setting of theirs: a model learns, each time is
// fixed, and no two differ in it that are otherwise alike. So it is where nobody gave --compute and
// every simulated run has timed its own gradient, whose time is recorded as if it had been given.
bool TimesOfGradientsFollow(std::span<const Config* const> configs);

// For each configuration its method, every setting of the run in which the configurations differ
// (DescribesRun), those of the simulated cluster in which the simulated ones differ, except
// seeds, times that follow (above) and those in `apart`; "simulated" if not all are. Equal for
// configurations that belong to one curve.
std::vector<std::string> CurveLabels(std::span<const Config* const> configs,
                                     const std::set<std::string>& apart = {});

// Runs that differ only in the seed, or in a graph that plays no part.
struct Curve {
  std::string label;  // "ring, dpsgd, lr=0.1"; "... (3 seeds)", where others have not as many
  std::vector<const RecordedRun*> runs;
};

// In the order of each curve's first run. The runs must outlive the result.
std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs);

// By their places: the simulated ones, if there are real ones, too.
std::set<size_t> SimulatedBesideReal(const std::vector<Curve>& curves);

// What all have in common: "lenet5 on mnist, 8 nodes, batch 32, lr 0.05", and "3 seeds", if every
// curve has so many.
std::string CommonTitle(std::span<const Config* const> configs);

// Pointers to the runs' configurations, in their order.
std::vector<const Config*> ConfigsOf(std::span<const RecordedRun> runs);

// One quantity of a cell of a sweep, that is of a whole run; absent where a cell has none.
using CellValue = std::function<std::optional<double>(const SweptCell&)>;

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells);

// The curve of every cell, and the curves' names in order.
struct CellLabels {
  std::vector<std::string> of_cell;
  std::vector<std::string> distinct;
};

// CurveLabels, without what is on an axis.
CellLabels LabelsOf(std::span<const Config* const> configs, const std::set<std::string>& apart);
CellLabels LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart);

// The same of labels.distinct.
std::set<size_t> SimulatedBesideReal(std::span<const Config* const> configs,
                                     const CellLabels& labels);

// Of one run, if it has both.
struct RunPoint {
  std::optional<double> x, y;
};

// One curve for each label; a point joins the runs, in the order of the labels, that differ only in
// the seed (or in a graph that plays no part).
std::vector<Band> BandsOfPoints(std::span<const RunPoint> points, const CellLabels& labels);

// The same of cells.
std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const CellLabels& labels,
                               const CellValue& x, const CellValue& y);

// All values that occur.
std::set<double> ValuesOf(std::span<const SweptCell> cells, const CellValue& value);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_CURVE_H_
