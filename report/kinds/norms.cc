// --kind=norms: how much longer each tensor's weights are than their gradient, as training goes on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {
namespace {

// The most tensors of a panel. As many curves have colours of their own; more could not be told
// apart.
constexpr size_t kMostTensors = 10;

// The ratios of one tensor of a run.
struct Ratios {
  std::string tensor;
  int64_t dimensions = 0;
  std::vector<Point> points;  // over epochs
};

// Returns whether a tensor has a ratio. A tensor without weights or gradient has none; nor do
// floats have one beyond 1e100, where an axis would leave the range of numbers.
bool HaveRatio(const TensorNorms& norms) {
  if (!(norms.weights > 0) || !(norms.gradient > 0)) return false;
  const double ratio = norms.weights / norms.gradient;
  return ratio > 1e-100 && ratio < 1e100;
}

// Returns the tensors in the network's order; their points ascend in x.
std::vector<Ratios> RatiosOf(const std::vector<NodeMetrics>& lines) {
  std::vector<Ratios> tensors;
  std::map<std::string, size_t> places;
  for (const NodeMetrics& line : lines) {
    for (const TensorNorms& norms : line.norms) {
      const auto [place, is_new] = places.try_emplace(norms.tensor, tensors.size());
      if (is_new) tensors.push_back({norms.tensor, norms.dimensions, {}});
      if (!HaveRatio(norms)) continue;
      tensors[place->second].points.push_back({line.epoch, norms.weights / norms.gradient});
    }
  }
  for (Ratios& ratios : tensors) std::ranges::stable_sort(ratios.points, {}, &Point::x);
  return tensors;
}

// Returns the tensors of the lowest rank that has norms: where workers share a budget of gradients,
// the first may be too slow for any. Empty if the ranks from 0 on have no files here, because they
// are on other machines.
absl::StatusOr<std::vector<Ratios>> RatiosOf(const RecordedRun& run) {
  for (int rank = 0;; ++rank) {
    ASSIGN_OR_RETURN(const std::vector<NodeMetrics> lines, ReadNode(run, rank));
    std::vector<Ratios> tensors = RatiosOf(lines);
    if (lines.empty() || !tensors.empty()) return tensors;
  }
}

// The runs of a curve, each with its tensors; they make a panel.
struct Method {
  std::string label;
  std::vector<std::vector<Ratios>> runs;
};

absl::StatusOr<std::vector<Method>> MethodsOf(const std::vector<RecordedRun>& runs) {
  std::vector<Method> methods;
  for (const Curve& curve : GroupRuns(runs)) {
    Method method{curve.label, {}};
    for (const RecordedRun* run : curve.runs) {
      ASSIGN_OR_RETURN(std::vector<Ratios> tensors, RatiosOf(*run));
      if (!tensors.empty()) method.runs.push_back(std::move(tensors));
    }
    if (!method.runs.empty()) methods.push_back(std::move(method));
  }
  return methods;
}

// Returns the names of the tensors with at least `dimensions` dimensions, each once.
std::vector<std::string> NamesOf(const std::vector<Method>& methods, int64_t dimensions) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Method& method : methods) {
    for (const std::vector<Ratios>& run : method.runs) {
      for (const Ratios& ratios : run) {
        if (ratios.dimensions < dimensions) continue;
        if (known.insert(ratios.tensor).second) names.push_back(ratios.tensor);
      }
    }
  }
  return names;
}

// Returns the names of the tensors to show. Tensors with one dimension, biases and the weights of
// batch norm, are shown only if the runs have no others: layer-wise rates leave them alone.
std::vector<std::string> NamesOf(const std::vector<Method>& methods) {
  std::vector<std::string> names = NamesOf(methods, /*dimensions=*/2);
  return names.empty() ? NamesOf(methods, /*dimensions=*/0) : names;
}

// Returns at most kMostTensors of the names, evenly spaced from the first to the last.
std::vector<std::string> Spaced(const std::vector<std::string>& names) {
  if (names.size() <= kMostTensors) return names;
  std::vector<std::string> spaced;
  for (size_t i = 0; i < kMostTensors; ++i) {
    spaced.push_back(names[i * (names.size() - 1) / (kMostTensors - 1)]);
  }
  return spaced;
}

Band BandOfTensor(const Method& method, const std::string& tensor) {
  std::vector<std::vector<Point>> series;
  for (const std::vector<Ratios>& run : method.runs) {
    const auto found = std::ranges::find(run, tensor, &Ratios::tensor);
    if (found != run.end()) series.push_back(found->points);
  }
  return BandOf(series);
}

absl::StatusOr<Figure> NormsPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  ASSIGN_OR_RETURN(const std::vector<Method> methods, MethodsOf(runs));
  const std::vector<std::string> names = NamesOf(methods);
  if (names.empty()) {
    return InputError(
        absl::StrCat(runs.front().path,
                     " records no norms: its workers' metrics have them in a run with --norms, "
                     "each where its own count of gradients meets an evaluation (--eval-every)"));
  }
  Page page{.title = CommonTitle(ConfigsOf(runs)), .labels = Spaced(names)};
  if (page.labels.size() < names.size()) {
    absl::StrAppend(&page.title, ", ", page.labels.size(), " of ", names.size(), " tensors");
  }
  std::vector<Band> all;
  for (const Method& method : methods) {
    Panel panel{.title = method.label};
    for (const std::string& tensor : page.labels) {
      panel.curves.push_back(BandOfTensor(method, tensor));
    }
    all.insert(all.end(), panel.curves.begin(), panel.curves.end());
    page.panels.push_back(std::move(panel));
  }
  for (Panel& panel : page.panels) {
    panel.x = AxisOf(Horizontal::kEpoch, all);
    panel.y = AxisOfAmounts("norm of weights / norm of gradient", all);
  }
  page.columns = static_cast<int>(std::min<size_t>(3, page.panels.size()));
  return page;
}

const Registration kNorms(
    PlotKinds(),
    {.name = "norms",
     .options = "",
     .help = "how much longer each layer's weights are than their gradient, over epochs",
     .flags = {"--smooth"},
     .make = NormsPage});

}  // namespace
}  // namespace grapevine
