// Sections about what all runs learnt, and at what cost.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "base/status.h"
#include "report/comparison.h"
#include "report/curve.h"
#include "report/kinds/pages.h"
#include "report/page/sections.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "run/records/metrics.h"

namespace grapevine {
namespace {

std::vector<std::string> PathsOf(const std::vector<RecordedRun>& runs) {
  std::vector<std::string> paths;
  paths.reserve(runs.size());
  for (const RecordedRun& run : runs) paths.push_back(run.path);
  return paths;
}

// Returns, for each label, the curve of GroupRuns to which it belongs: pictures leave out curves
// that have no points, and add to the names of others.
std::vector<size_t> ColoursOf(const std::vector<std::string>& labels,
                              const std::vector<RecordedRun>& runs) {
  const std::vector<Curve> curves = GroupRuns(runs);
  std::vector<size_t> colours;
  for (const std::string& label : labels) {
    size_t best = 0, longest = 0;
    for (size_t i = 0; i < curves.size(); ++i) {
      if (curves[i].label.size() < longest || !absl::StartsWith(label, curves[i].label)) continue;
      best = i;
      longest = curves[i].label.size();
    }
    colours.push_back(best);
  }
  return colours;
}

constexpr const char* kAgainst[] = {"epochs", "bytes", "time"};

// Returns a row of the page of --kind=convergence, against epochs, bytes and time.
PageBlock RowOf(const Page& page, size_t row, const char* title,
                const std::vector<RecordedRun>& runs) {
  std::vector<NamedPanel> panels;
  for (size_t i = 0; i < std::size(kAgainst); ++i) {
    panels.push_back({kAgainst[i], &page.panels[row * std::size(kAgainst) + i]});
  }
  return ChartBlock(title, page.labels, ColoursOf(page.labels, runs), panels);
}

bool HasPoints(const PageBlock& chart) {
  return std::ranges::any_of(chart["panels"], [](const PageBlock& panel) {
    return std::ranges::any_of(panel["curves"],
                               [](const PageBlock& curve) { return !curve.empty(); });
  });
}

// Returns whether evaluations on the way used a part of the test set, so that a curve may step at
// its end.
bool LooksAtSamples(const std::vector<RecordedRun>& runs) {
  return std::ranges::any_of(runs, [](const RecordedRun& run) {
    return std::ranges::any_of(
        run.metrics, [](const RunMetrics& metrics) { return metrics.test_samples.has_value(); });
  });
}

}  // namespace

absl::StatusOr<PageBlocks> OutcomeBlocks(const std::vector<RecordedRun>& runs,
                                         const std::string& target) {
  ASSIGN_OR_RETURN(const Table table, ComparisonTable({.runs = PathsOf(runs), .target = target}));
  return PageBlocks{TableBlock("Outcome of each run, the most accurate first", table)};
}

absl::StatusOr<PageBlocks> LearningBlocks(const std::vector<RecordedRun>& runs) {
  const absl::StatusOr<Page> page = ConvergencePage(runs, {.loss = Vertical::kTrainLoss});
  const absl::StatusOr<Page> test = ConvergencePage(runs, {.loss = Vertical::kTestLoss});
  PageBlocks blocks;
  if (page.ok()) blocks.push_back(RowOf(*page, 0, "Training loss", runs));
  if (test.ok()) {
    blocks.push_back(RowOf(*test, 0, "Test loss", runs));
    blocks.push_back(RowOf(*test, 1, "Test accuracy", runs));
    blocks.push_back(RowOf(*test, 2, "Consensus distance", runs));
  }
  std::erase_if(blocks, [](const PageBlock& chart) { return !HasPoints(chart); });
  if (blocks.empty()) {
    return InputError(
        "No run here has a loss, an accuracy or a consensus distance: a model that learns nothing "
        "has none.");
  }
  if (LooksAtSamples(runs)) {
    blocks.push_back(
        TextBlock("Test loss and accuracy are of a sample of the test set (test_samples in "
                  "metrics.jsonl), and at the end of a run of all of it: a curve may step there."));
  }
  return blocks;
}

absl::StatusOr<PageBlocks> StalenessBlocks(const std::vector<RecordedRun>& runs) {
  ASSIGN_OR_RETURN(const Figure figure,
                   MakeFigure({.kind = "staleness", .request = {.runs = PathsOf(runs)}}));
  const Page& page = std::get<Page>(figure);
  return PageBlocks{ChartBlock("How stale the gradients were that were applied", page.labels,
                               ColoursOf(page.labels, runs), {{"", &page.panels.front()}})};
}

}  // namespace grapevine
