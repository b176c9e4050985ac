#include "report/plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/gnuplot.h"
#include "report/paper_width.h"

namespace grapevine {
namespace {

using Cells = std::vector<std::string>;

// A point of a page, and its place.
struct Place {
  const Page& page;
  const Panel& panel;
  size_t curve;
  size_t point;
  const BandPoint& at() const { return panel.curves[curve][point]; }
  std::string note() const {
    const bool noted = curve < panel.notes.size() && point < panel.notes[curve].size();
    return noted ? panel.notes[curve][point] : "";
  }
};

// A column of the numbers of a page.
struct PointColumn {
  std::string name;
  std::function<std::string(const Place&)> value;
};

std::string VerticalText(const Place& place, double value) {
  return std::isnan(value) ? "" : absl::StrCat(value / place.panel.y.unit);
}

// Returns the x of a point; for a bar, the name of its group.
std::string HorizontalText(const Place& place) {
  const double x = place.at().x;
  if (place.panel.bars) return place.panel.x.named_tics[static_cast<size_t>(x)].first;
  return absl::StrCat(x / place.panel.x.unit);
}

bool IsSmoothed(const Panel& panel) { return !panel.unsmoothed.empty(); }

// Smoothing keeps the points in their places.
std::string UnsmoothedText(const Place& place) {
  if (!IsSmoothed(place.panel)) return "";
  return VerticalText(place, place.panel.unsmoothed[place.curve][place.point].mean);
}

bool HasNotes(const Panel& panel) { return !panel.notes.empty(); }

bool Joined(const Panel& panel) {
  for (const Band& curve : panel.curves) {
    if (std::ranges::any_of(curve, [](const BandPoint& p) { return p.low < p.high; })) return true;
  }
  return false;
}

void AddQuantity(const Page& page, Axis Panel::*axis, const char* which, const char* value,
                 std::function<std::string(const Place&)> written,
                 std::vector<PointColumn>* columns) {
  const std::optional<std::string> common = CommonName(page.panels, axis);
  if (common && common->empty()) return;  // a single group of bars
  if (!common) {
    columns->push_back({which, [axis](const Place& place) { return NameOf(place.panel.*axis); }});
  }
  columns->push_back({common.value_or(value), std::move(written)});
}

std::vector<PointColumn> ColumnsOf(const Page& page) {
  std::vector<PointColumn> columns;
  const bool titled =
      std::ranges::any_of(page.panels, [](const Panel& panel) { return !panel.title.empty(); });
  if (titled) columns.push_back({"panel", [](const Place& p) { return p.panel.title; }});
  columns.push_back({"curve", [](const Place& p) { return p.page.labels[p.curve]; }});
  AddQuantity(page, &Panel::x, "x", "at", HorizontalText, &columns);
  AddQuantity(
      page, &Panel::y, "y", "value", [](const Place& p) { return VerticalText(p, p.at().mean); },
      &columns);
  if (std::ranges::any_of(page.panels, Joined)) {
    columns.push_back({"least", [](const Place& p) { return VerticalText(p, p.at().low); }});
    columns.push_back({"greatest", [](const Place& p) { return VerticalText(p, p.at().high); }});
  }
  if (std::ranges::any_of(page.panels, IsSmoothed)) {
    columns.push_back({"unsmoothed", [](const Place& p) { return UnsmoothedText(p); }});
  }
  if (std::ranges::any_of(page.panels, HasNotes)) {
    columns.push_back({"note", [](const Place& p) { return p.note(); }});
  }
  return columns;
}

Table Numbers(const Page& page) {
  const std::vector<PointColumn> columns = ColumnsOf(page);
  Table table;
  for (const PointColumn& column : columns) table.header.push_back(column.name);
  for (const Panel& panel : page.panels) {
    for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
      for (size_t point = 0; point < panel.curves[curve].size(); ++point) {
        Cells& row = table.rows.emplace_back();
        for (const PointColumn& column : columns) {
          row.push_back(column.value({page, panel, curve, point}));
        }
      }
    }
  }
  return table;
}

Table Numbers(const WinnerMap& map) {
  Table table{{"latency", "bandwidth", "winner", "advantage of gossip"}, {}};
  for (size_t i = 0; i < map.cells.size(); ++i) {
    if (!map.cells[i]) continue;
    table.rows.push_back({LatencyName(map.latencies[i / map.bandwidths.size()]),
                          BandwidthName(map.bandwidths[i % map.bandwidths.size()]),
                          map.cells[i]->winner, absl::StrCat(map.cells[i]->advantage)});
  }
  return table;
}

}  // namespace

void SetTitle(const std::string& title, Figure* figure) {
  std::visit([&title](auto& drawn) { drawn.title = title; }, *figure);
}

std::string ScriptOf(const Figure& figure, PictureFormat format, const std::string& output,
                     std::optional<double> width_cm) {
  if (const WinnerMap* map = std::get_if<WinnerMap>(&figure)) {
    return WinnerScript(*map, format, output, width_cm);
  }
  return GnuplotScript(std::get<Page>(figure), format, output, width_cm);
}

Table NumbersOf(const Figure& figure) {
  return std::visit([](const auto& drawn) { return Numbers(drawn); }, figure);
}

Registry<PlotKind>& PlotKinds() {
  static Registry<PlotKind> kinds("kind of picture");
  return kinds;
}

absl::StatusOr<Vertical> LossOf(const PlotRequest& request, Vertical usual) {
  if (request.loss.empty()) return usual;
  if (request.loss == "train") return Vertical::kTrainLoss;
  if (request.loss == "test") return Vertical::kTestLoss;
  return UsageError(absl::StrCat("--loss=", request.loss, ": must be train or test"));
}

namespace {

absl::Status CheckMeaning(const PlotKind& kind, const char* flag, bool given) {
  if (!given || kind.flags.contains(flag)) return absl::OkStatus();
  std::vector<std::string> others;
  for (const PlotKind* other : PlotKinds().All()) {
    if (other->flags.contains(flag)) others.push_back(absl::StrCat("--kind=", other->name));
  }
  return UsageError(absl::StrCat(flag, " means nothing to --kind=", kind.name, "; it is for ",
                                 absl::StrJoin(others, ", ")));
}

absl::Status AdjustFigure(const Adjustment& adjustment, const PlotKind& kind, Figure* figure) {
  if (Page* const page = std::get_if<Page>(figure)) return Adjust(adjustment, page);
  const std::pair<const char*, bool> given[] = {{"--legend", !adjustment.legend.empty()},
                                                {"--x-range", !adjustment.x_range.empty()},
                                                {"--y-range", !adjustment.y_range.empty()}};
  for (const auto& [flag, is_given] : given) {
    if (is_given) {
      return UsageError(
          absl::StrCat(flag, " means nothing to --kind=", kind.name,
                       ", a map, which has neither curves nor a scale; leave it out"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Figure> MakeFigure(const PlotOptions& options) {
  const PlotKind* const kind = PlotKinds().Find(options.kind);
  if (kind == nullptr) {
    return UnknownNameError("kind of picture", options.kind, options.kind, PlotKinds().Listings());
  }
  RETURN_IF_ERROR(CheckMeaning(*kind, "--x", !options.request.x.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--loss", !options.request.loss.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--target-accuracy", !options.request.target.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--y", !options.request.y.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--log-loss", options.request.log_loss));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--smooth", !options.adjustment.smooth.empty()));
  ASSIGN_OR_RETURN(Figure figure, kind->make(options.request));
  if (options.title) SetTitle(*options.title, &figure);
  RETURN_IF_ERROR(AdjustFigure(options.adjustment, *kind, &figure));
  return figure;
}

absl::Status WriteFigure(const PlotOptions& options, const std::string& output) {
  ASSIGN_OR_RETURN(const PictureFormat format, FormatOf(output));
  std::optional<double> width_cm;
  if (!options.width.empty()) {
    ASSIGN_OR_RETURN(width_cm, WidthNamed(options.width));
  }
  ASSIGN_OR_RETURN(Figure figure, MakeFigure(options));
  if (width_cm) {
    // On paper, the caption says what the runs have in common.
    if (!options.title) SetTitle("", &figure);
    RETURN_IF_ERROR(
        std::visit([&](const auto& drawn) { return CheckWidth(drawn, *width_cm); }, figure));
  }
  return WritePicture(
      output, [&](const std::string& name) { return ScriptOf(figure, format, name, width_cm); });
}

}  // namespace grapevine
