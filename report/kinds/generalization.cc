// --kind=generalization: training and test loss together, and the gap between them.
#include <algorithm>
#include <map>
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

using Series = std::vector<Point>;

// Returns `test` minus `train` at the points at which both were measured.
Series Difference(const Series& test, const Series& train) {
  std::map<double, double> of_training;
  for (const Point& point : train) of_training[point.x] = point.y;
  Series difference;
  for (const Point& point : test) {
    const auto found = of_training.find(point.x);
    if (found != of_training.end()) difference.push_back({point.x, point.y - found->second});
  }
  return difference;
}

// Returns the bands of training loss, test loss and gap.
std::vector<Band> LossesOf(const Curve& curve) {
  std::vector<Series> train, test, gap;
  for (const RecordedRun* run : curve.runs) {
    train.push_back(SeriesOf(run->metrics, Horizontal::kEpoch, Vertical::kTrainLoss));
    test.push_back(SeriesOf(run->metrics, Horizontal::kEpoch, Vertical::kTestLoss));
    gap.push_back(Difference(test.back(), train.back()));
  }
  return {BandOf(train), BandOf(test), BandOf(gap)};
}

absl::StatusOr<Figure> GeneralizationPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  Page page{.title = CommonTitle(ConfigsOf(runs)),
            .labels = {"training loss", "test loss", "gap (test - training)"}};
  std::vector<Band> all;
  for (const Curve& curve : GroupRuns(runs)) {
    Panel panel{.curves = LossesOf(curve), .title = curve.label};
    if (panel.curves[1].empty()) continue;
    all.insert(all.end(), panel.curves.begin(), panel.curves.end());
    page.panels.push_back(std::move(panel));
  }
  if (page.panels.empty()) {
    return InputError(absl::StrCat(runs.front().path,
                                   " has no test loss: it is measured every --eval-every epochs of "
                                   "a --model that learns"));
  }
  for (Panel& panel : page.panels) {
    panel.x = AxisOf(Horizontal::kEpoch, all);
    panel.y = AxisOf(Vertical::kTestLoss, all);
    panel.y.label = "loss";
  }
  page.columns = static_cast<int>(std::min<size_t>(3, page.panels.size()));
  return page;
}

const Registration kGeneralization(
    PlotKinds(), {.name = "generalization",
                  .options = "",
                  .help = "training and test loss together and the gap between them, by method",
                  .flags = {"--smooth"},
                  .make = GeneralizationPage});

}  // namespace
}  // namespace grapevine
