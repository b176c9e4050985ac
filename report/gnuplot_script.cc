#include "report/gnuplot_script.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/table.h"

namespace grapevine {
namespace {

constexpr size_t kMaxPoints = 800;    // of one curve
constexpr size_t kMarkedPoints = 25;  // curves with fewer show them

// Pixels: of the title, and of what is beside it.
constexpr int kTitleLetter = 10, kTitleMargins = 30;

// Pixels: of the line beside a legend's label with its margins, and of a letter.
constexpr int kLegendSample = 84, kLegendLetter = 7;

// Pixels; a screen coordinate of gnuplot is a fraction counted from below.
struct PageLayout {
  int columns, rows;
  int legend_columns, legend_rows;
  int legend_entry;       // width
  size_t legend_letters;  // of an entry's label
  static constexpr int kPanelWidth = 400, kPanelHeight = 250;
  static constexpr int kLeft = 90, kRight = 25, kBottom = 66;
  static constexpr int kLegendLine = 22;

  int top, gap_x, gap_y;
  int title_width;
  int panels_width() const {
    return kLeft + columns * kPanelWidth + (columns - 1) * gap_x + kRight;
  }
  // Widened for a long title, up to twice.
  int width() const { return std::clamp(title_width, panels_width(), 2 * panels_width()); }
  size_t most_legend_letters() const {
    return static_cast<size_t>((width() - kLegendSample) / kLegendLetter);
  }
  int legend_top() const { return top + rows * kPanelHeight + (rows - 1) * gap_y + kBottom; }
  int height() const { return legend_top() + legend_rows * kLegendLine + 16; }
  std::string X(double pixels) const { return absl::StrFormat("%.4f", pixels / width()); }
  std::string Y(double pixels) const { return absl::StrFormat("%.4f", 1 - pixels / height()); }
};

bool HasTitles(const Page& page) {
  return std::any_of(page.panels.begin(), page.panels.end(),
                     [](const Panel& panel) { return !panel.title.empty(); });
}

PageLayout LayoutOf(const Page& page) {
  PageLayout layout{};
  layout.columns = std::max(1, page.columns);
  layout.rows = (static_cast<int>(page.panels.size()) + layout.columns - 1) / layout.columns;
  layout.top = 58 + (HasTitles(page) ? 18 : 0);
  // What is longer is cut.
  const size_t letters = std::min<size_t>(LetterCount(page.title), 10'000);
  layout.title_width = kTitleLetter * static_cast<int>(letters) + kTitleMargins;
  layout.gap_x = page.shared_rows ? 28 : 92;
  layout.gap_y = 24 + (HasTitles(page) ? 16 : 0) + (page.shared_columns ? 0 : 44);
  size_t longest = 1;
  for (const std::string& label : page.labels) longest = std::max(longest, LetterCount(label));
  layout.legend_letters = std::min(longest, layout.most_legend_letters());
  layout.legend_entry = kLegendSample + kLegendLetter * static_cast<int>(layout.legend_letters);
  const int curves = static_cast<int>(page.labels.size());
  const int fitting = (layout.width() - PageLayout::kLeft) / layout.legend_entry;
  layout.legend_columns = std::clamp(fitting, 1, std::max(1, curves));
  layout.legend_rows = (curves + layout.legend_columns - 1) / layout.legend_columns;
  return layout;
}

std::string Head(const PageLayout& layout, PictureFormat format, const std::string& output) {
  return absl::StrCat(GnuplotTerminal(format, layout.width(), layout.height(), output),
                      "set multiplot\n", "set border 3 lc rgb '#606060'\n",
                      "set tics nomirror out textcolor '#303030'\n",
                      "set grid back lt 1 dt solid lc rgb '#cccccc' lw 1\n", "unset key\n");
}

std::string DataName(size_t panel, size_t curve) { return absl::StrCat("$p", panel, "c", curve); }

// The points of a curve that gnuplot can draw on these axes, in their units.
Band Drawable(const Band& curve, const Axis& x, const Axis& y) {
  Band drawable;
  for (const BandPoint& point : Thin(curve, kMaxPoints)) {
    if (std::isnan(point.mean)) continue;
    if ((y.logarithmic && point.low <= 0) || (x.logarithmic && point.x <= 0)) continue;
    drawable.push_back(
        {point.x / x.unit, point.low / y.unit, point.mean / y.unit, point.high / y.unit});
  }
  return drawable;
}

std::string DataBlock(const std::string& name, const Band& points) {
  std::string block = absl::StrCat(name, " << EOD\n");
  for (const BandPoint& point : points) {
    absl::StrAppendFormat(&block, "%.8g %.8g %.8g %.8g\n", point.x, point.low, point.mean,
                          point.high);
  }
  return absl::StrCat(block, "EOD\n");
}

// Breaks the parts into lines of a panel's width; "and 3 more" if they do not fit.
std::vector<std::string> Lines(const std::string& head, const std::vector<std::string>& parts) {
  constexpr size_t kWidth = 62;  // letters of the size of notes
  constexpr size_t kMaxLines = 3;
  std::vector<std::string> lines = {head};
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string part = parts[i] + (i + 1 < parts.size() ? ";" : "");
    if (lines.back().size() + 1 + part.size() <= kWidth) {
      absl::StrAppend(&lines.back(), " ", part);
    } else if (lines.size() == kMaxLines) {
      absl::StrAppend(&lines.back(), " and ", parts.size() - i, " more");
      break;
    } else {
      if (part.size() > kWidth) part.replace(kWidth - 3, part.npos, "...");
      lines.push_back(std::move(part));
    }
  }
  return lines;
}

// Runs that agree exactly have no place on a logarithmic axis.
std::string ZeroNote(const Page& page, const Panel& panel) {
  std::vector<std::string> labels;
  for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
    const Band& band = panel.curves[curve];
    const bool zero = std::all_of(band.begin(), band.end(),
                                  [](const BandPoint& point) { return point.high == 0; });
    if (zero && !band.empty()) labels.push_back(page.labels[curve]);
  }
  if (labels.empty()) return "";
  const std::vector<std::string> lines = Lines("0 throughout:", labels);
  std::string script;
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::StrAppendFormat(
        &script,
        "set label %d %s at graph 0.03,%.2f left noenhanced font ',8' textcolor '#606060'\n",
        10 + i, GnuplotQuoted(lines[i]), 0.06 + 0.06 * static_cast<double>(lines.size() - 1 - i));
  }
  return script;
}

bool HasWidth(const Band& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const BandPoint& point) { return point.low < point.high; });
}

std::string BandElement(const std::string& data, size_t curve) {
  return absl::StrFormat(
      "%s using 1:2:4 notitle with filledcurves fc rgb '%s' fs transparent solid 0.18 noborder",
      data, CurveColour(curve));
}

std::string LineElement(const Page& page, const std::string& data, size_t curve, bool marked) {
  const bool hollow = page.hollow.contains(curve);
  return absl::StrFormat("%s using 1:3 notitle with %s lc rgb '%s' dt %s lw %g%s", data,
                         marked ? "linespoints" : "lines", CurveColour(curve), CurveDash(curve),
                         hollow ? 1 : 2,
                         !marked  ? ""
                         : hollow ? " pt 6 ps 0.7"
                                  : " pt 7 ps 0.5");
}

// How far a group of bars extends, of 1.
constexpr double kGroupWidth = 0.8;

double BarWidth(const Panel& panel) {
  return kGroupWidth / static_cast<double>(std::max<size_t>(1, panel.curves.size()));
}

// Of a curve's bars from the middle of their groups.
double BarOffset(const Panel& panel, size_t curve) {
  return BarWidth(panel) * (static_cast<double>(curve) + 0.5) - kGroupWidth / 2;
}

// With a whisker from the least to the greatest, where bars join several runs.
std::string BarElement(const Panel& panel, const std::string& data, size_t curve, bool width) {
  const double offset = BarOffset(panel, curve);
  std::string element =
      absl::StrFormat("%s using ($1+%.6g):3:(%.6g) notitle with boxes fc rgb '%s' fs %s noborder",
                      data, offset, 0.9 * BarWidth(panel), CurveColour(curve), CurveFill(curve));
  if (width) {
    // Error bars of gnuplot leave a gap at their middle; these are arrows with blunt heads.
    absl::StrAppendFormat(&element,
                          ", %s using ($1+%.6g):2:(0):($4-$2) notitle with vectors heads size "
                          "graph 0.01,90 lw 1.5 lc rgb '#303030'",
                          data, offset);
  }
  return element;
}

// More bars of a panel than this are narrower than what is written above them, which stands
// upright.
constexpr size_t kWideBars = 6;

std::string NotePlacement(const Panel& panel) {
  const bool upright =
      panel.bars &&
      panel.curves.size() * std::max<size_t>(1, panel.x.named_tics.size()) > kWideBars;
  return upright ? "rotate by 90 left offset character 0,0.4" : "center offset character 0,0.7";
}

// What is written above a curve's points.
std::string Notes(const Panel& panel, size_t curve) {
  if (curve >= panel.notes.size()) return "";
  const Band& band = panel.curves[curve];
  std::string script;
  for (size_t i = 0; i < std::min(band.size(), panel.notes[curve].size()); ++i) {
    if (panel.notes[curve][i].empty()) continue;
    const double height = std::isnan(band[i].mean) ? panel.y.low : band[i].high / panel.y.unit;
    absl::StrAppendFormat(
        &script, "set label %s at first %.8g,%.8g %s noenhanced font ',8' textcolor '%s' front\n",
        GnuplotQuoted(panel.notes[curve][i]),
        band[i].x / panel.x.unit + (panel.bars ? BarOffset(panel, curve) : 0), height,
        NotePlacement(panel), panel.bars ? "#303030" : CurveColour(curve));
  }
  return script;
}

std::string PanelPosition(const PageLayout& layout, size_t panel) {
  const int column = static_cast<int>(panel) % layout.columns;
  const int row = static_cast<int>(panel) / layout.columns;
  const int left = PageLayout::kLeft + column * (PageLayout::kPanelWidth + layout.gap_x);
  const int top = layout.top + row * (PageLayout::kPanelHeight + layout.gap_y);
  return absl::StrCat("set lmargin at screen ", layout.X(left), "\nset rmargin at screen ",
                      layout.X(left + PageLayout::kPanelWidth), "\nset tmargin at screen ",
                      layout.Y(top), "\nset bmargin at screen ",
                      layout.Y(top + PageLayout::kPanelHeight), "\n");
}

std::string TicList(const std::vector<double>& tics) {
  return absl::StrCat("(", absl::StrJoin(tics, ", "), ")");
}

// Where tics are, and how their numbers are written.
std::string Tics(const char* which, const Axis& axis, bool shown) {
  const char* const format = !shown ? "''" : axis.decades ? "'10^{%L}'" : "'%g'";
  std::string script = absl::StrCat("set format ", which, " ", format, "\n");
  if (axis.named_tics.empty()) {
    return absl::StrCat(script, "set ", which, "tics ",
                        axis.tics.empty() ? "autofreq" : TicList(axis.tics), "\n");
  }
  const auto name = [shown](std::string* out, const auto& tic) {
    absl::StrAppend(out, GnuplotQuoted(shown ? tic.first : ""), " ", tic.second);
  };
  return absl::StrCat(script, "set ", which, "tics (", absl::StrJoin(axis.named_tics, ", ", name),
                      ")\n");
}

// Axes, ranges and labels. The inner panels of shared rows and columns have none.
std::string Axes(const Page& page, const PageLayout& layout, size_t index) {
  const Axis& x = page.panels[index].x;
  const Axis& y = page.panels[index].y;
  const bool bottom = !page.shared_columns || index + layout.columns >= page.panels.size();
  const bool left = !page.shared_rows || index % layout.columns == 0;
  std::string script;
  absl::StrAppend(&script, x.logarithmic ? "set logscale x 10\n" : "unset logscale x\n",
                  y.logarithmic ? "set logscale y 10\n" : "unset logscale y\n",
                  Tics("x", x, bottom), Tics("y", y, left), "set xlabel ",
                  GnuplotQuoted(bottom ? x.label : ""), "\n", "set ylabel ",
                  GnuplotQuoted(left ? y.label : ""), "\n");
  absl::StrAppendFormat(&script, "set xrange [%.8g:%.8g]\nset yrange [%.8g:%.8g]\n", x.low, x.high,
                        y.low, y.high);
  return script;
}

std::string Title(const Panel& panel) {
  constexpr size_t kLetters = 56;
  if (panel.title.empty()) return "";
  return absl::StrCat("set label 4 ", GnuplotQuoted(Fitting(panel.title, kLetters)),
                      " at graph 0.5,1.06 center noenhanced textcolor '#303030'\n");
}

// The line with which curves are compared, and the script that it needs.
std::string Reference(const Panel& panel, size_t index, std::string* script) {
  const Band points = Drawable(panel.reference, panel.x, panel.y);
  if (points.empty()) return "";
  const std::string data = absl::StrCat("$p", index, "reference");
  absl::StrAppend(script, DataBlock(data, points));
  absl::StrAppendFormat(script,
                        "set label 3 %s at %.8g,%.8g right offset character -1,0 noenhanced "
                        "font ',9' textcolor '#808080'\n",
                        GnuplotQuoted(panel.reference_name), points.back().x, points.back().mean);
  return absl::StrCat(data, " using 1:3 notitle with lines lc rgb '#a0a0a0' dt (4,4) lw 1.5, ");
}

std::string DrawPanel(const Page& page, const PageLayout& layout, size_t index) {
  const Panel& panel = page.panels[index];
  if (panel.blank) return "";
  std::string script = PanelPosition(layout, index) + Axes(page, layout, index) + Title(panel);
  std::string bands = Reference(panel, index, &script);
  std::string lines;
  bool noted_point = false;
  for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
    const std::string notes = Notes(panel, curve);
    noted_point = noted_point || !notes.empty();
    absl::StrAppend(&script, notes);
    const Band points = Drawable(panel.curves[curve], panel.x, panel.y);
    if (points.empty()) continue;
    const std::string data = DataName(index, curve);
    absl::StrAppend(&script, DataBlock(data, points));
    if (panel.bars) {
      absl::StrAppend(&lines, BarElement(panel, data, curve, HasWidth(points)), ", ");
      continue;
    }
    if (HasWidth(points)) absl::StrAppend(&bands, BandElement(data, curve), ", ");
    absl::StrAppend(&lines, LineElement(page, data, curve, points.size() <= kMarkedPoints), ", ");
  }
  // Once per row, and in every panel with an axis of its own.
  const bool noted = panel.y.logarithmic && (!page.shared_rows || index % layout.columns == 0);
  const std::string agreement = panel.y.logarithmic ? ZeroNote(page, panel) : "";
  if (noted) absl::StrAppend(&script, agreement);
  if (lines.empty() && agreement.empty() && !noted_point) {
    absl::StrAppend(&script, "set label 1 'not measured' at graph 0.5,0.5 center ",
                    "textcolor '#808080'\n");
  }
  // NaN draws nothing; it ends the list.
  absl::StrAppend(&script, panel.bars ? "set grid noxtics\nset xtics scale 0\n" : "", "plot ",
                  bands, lines, "NaN notitle\n", "unset label\n",
                  panel.bars ? "set grid xtics\nset xtics scale 1\n" : "");
  return script;
}

// How the curve of a legend's entry looks.
std::string LegendStyle(const Page& page, size_t curve) {
  const bool bars = std::ranges::any_of(page.panels, &Panel::bars);
  return absl::StrFormat("lc rgb '%s' dt %s lw %g", CurveColour(curve),
                         !bars                                     ? CurveDash(curve)
                         : CurveFill(curve).starts_with("pattern") ? "(1,1)"
                                                                   : "solid",
                         bars                          ? 8.0
                         : page.hollow.contains(curve) ? 1.25
                                                       : 2.5);
}

// Drawn by hand: gnuplot's own key belongs to a single panel.
std::string Legend(const Page& page, const PageLayout& layout) {
  // Centred under the panels, if there is room.
  const int spare = layout.width() - layout.legend_columns * layout.legend_entry;
  const int left = std::min(spare, (PageLayout::kLeft + spare) / 2);
  std::string script;
  for (size_t curve = 0; curve < page.labels.size(); ++curve) {
    const double x = left + layout.legend_entry * (curve % layout.legend_columns);
    const double y =
        layout.legend_top() + PageLayout::kLegendLine * (curve / layout.legend_columns + 0.5);
    absl::StrAppendFormat(&script, "set arrow from screen %s,%s to screen %s,%s nohead %s\n",
                          layout.X(x), layout.Y(y), layout.X(x + 44), layout.Y(y),
                          LegendStyle(page, curve));
    absl::StrAppendFormat(&script, "set label %s at screen %s,%s left noenhanced\n",
                          GnuplotQuoted(Fitting(page.labels[curve], layout.legend_letters)),
                          layout.X(x + 54), layout.Y(y));
  }
  return script;
}

// Title and legend stand on an invisible plot over the whole page.
std::string Frame(const Page& page, const PageLayout& layout) {
  const auto letters = static_cast<size_t>((layout.width() - kTitleMargins) / kTitleLetter);
  return absl::StrCat("set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n",
                      "set bmargin at screen 0\nunset border\nunset tics\nunset grid\nunset "
                      "logscale x\nunset logscale y\n",
                      "set xlabel ''\nset ylabel ''\nset xrange [0:1]\nset yrange [0:1]\n",
                      "set label ", GnuplotQuoted(Fitting(page.title, letters)), " at screen 0.5,",
                      layout.Y(26), " center noenhanced font ',13'\n", Legend(page, layout),
                      "plot NaN notitle\n");
}

}  // namespace

std::string GnuplotScript(const Page& page, PictureFormat format, const std::string& output) {
  const PageLayout layout = LayoutOf(page);
  std::string script = Head(layout, format, output);
  for (size_t i = 0; i < page.panels.size(); ++i) {
    absl::StrAppend(&script, DrawPanel(page, layout, i));
  }
  return absl::StrCat(script, Frame(page, layout), "unset multiplot\nunset output\n");
}

}  // namespace grapevine
