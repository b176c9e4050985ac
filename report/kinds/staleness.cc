// --kind=staleness: how stale the gradients were that were applied, as a histogram.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {
namespace {

// The staleness of a run's gradients, over all of its nodes. The buckets are those of
// NodeMetrics::staleness.
struct Histogram {
  std::vector<double> buckets;
  double gradients = 0;
  double sum = 0;  // sum of the gradients' staleness
};

void Add(const NodeMetrics& node, Histogram* histogram) {
  if (!node.staleness) return;
  const std::vector<int64_t>& buckets = *node.staleness;
  if (buckets.size() > histogram->buckets.size()) histogram->buckets.resize(buckets.size());
  double gradients = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const double count = static_cast<double>(buckets[i]);
    histogram->buckets[i] += count;
    gradients += count;
  }
  histogram->gradients += gradients;
  histogram->sum += gradients * node.staleness_mean.value_or(0);
}

absl::StatusOr<Histogram> HistogramOf(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::vector<NodeMetrics> nodes, ReadLastOfNodes(run));
  Histogram histogram;
  for (const NodeMetrics& node : nodes) Add(node, &histogram);
  return histogram;
}

// Returns "0", "1", "2 to 3", "4 to 7" ... for the buckets from 0 on.
std::string NameOfBucket(size_t bucket) {
  if (bucket < 2) return absl::StrCat(bucket);
  const int64_t first = int64_t{1} << (std::min<size_t>(bucket, 62) - 1);
  return absl::StrCat(first, " to ", 2 * first - 1);
}

// Returns the histograms of a curve's runs, each in percent of the gradients of its run.
Band SharesOf(const std::vector<Histogram>& histograms) {
  std::vector<std::vector<Point>> series;
  size_t most = 0;
  for (const Histogram& histogram : histograms) most = std::max(most, histogram.buckets.size());
  for (const Histogram& histogram : histograms) {
    std::vector<Point>& points = series.emplace_back();
    for (size_t i = 0; i < most; ++i) {
      const double count = i < histogram.buckets.size() ? histogram.buckets[i] : 0;
      points.push_back({static_cast<double>(i), 100 * count / histogram.gradients});
    }
  }
  return BandOf(series);
}

std::string MeanOf(const std::vector<Histogram>& histograms) {
  double sum = 0, gradients = 0;
  for (const Histogram& histogram : histograms) {
    sum += histogram.sum;
    gradients += histogram.gradients;
  }
  return absl::StrFormat("mean %.3g", sum / gradients);
}

absl::StatusOr<Figure> StalenessPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  Page page{.title = CommonTitle(ConfigsOf(runs)), .columns = 1};
  Panel panel{.bars = true};
  size_t buckets = 0;
  for (const Curve& curve : GroupRuns(runs)) {
    std::vector<Histogram> histograms;
    for (const RecordedRun* run : curve.runs) {
      ASSIGN_OR_RETURN(Histogram histogram, HistogramOf(*run));
      if (histogram.gradients > 0) histograms.push_back(std::move(histogram));
    }
    if (histograms.empty()) continue;
    panel.curves.push_back(SharesOf(histograms));
    page.labels.push_back(absl::StrCat(curve.label, ", ", MeanOf(histograms)));
    buckets = std::max(buckets, panel.curves.back().size());
  }
  if (panel.curves.empty()) {
    return InputError(absl::StrCat(
        runs.front().path,
        " records no staleness: its nodes' metrics have it where gradients are "
        "applied late (--algorithm=ps:async, adpsgd and their like), and a simulated run has them "
        "if its --model learns"));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < buckets; ++i) names.push_back(NameOfBucket(i));
  panel.x = AxisOfBars("staleness: updates since the gradient's replica", names);
  panel.y = AxisOfPercent("gradients", panel.curves);
  page.panels.push_back(std::move(panel));
  return page;
}

const Registration kStaleness(
    PlotKinds(), {.name = "staleness",
                  .options = "",
                  .help = "histogram of how stale the gradients of asynchronous algorithms were",
                  .flags = {},
                  .make = StalenessPage});

}  // namespace
}  // namespace grapevine
