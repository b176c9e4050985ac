#include "report/gnuplot_script.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "report/table.h"

namespace grapevine {
namespace {

constexpr size_t kMaxPoints = 800;    // per curve
constexpr size_t kMarkedPoints = 25;  // curves with no more points show them

// Pixels of a letter of the title, and of the margins beside the title.
constexpr int kTitleLetter = 10, kTitleMargins = 30;

// Pixels of the line beside a legend's label with its margins, of the line without margins, and of
// a letter.
constexpr int kLegendSample = 84, kTightLegendSample = 60, kLegendLetter = 7;

// On paper, letters that are ten dots high are 7.5 points high, no more than those of a caption.
constexpr double kPointsOfADot = 0.75;

// Sizes in pixels. A screen coordinate of gnuplot is a fraction counted from below.
struct PageLayout {
  int columns, rows;
  int legend_columns, legend_rows;
  int legend_entry;       // width of an entry
  size_t legend_letters;  // most letters of a label
  static constexpr int kPanelWidth = 400, kPanelHeight = 250;
  static constexpr int kLeft = 90, kRight = 25, kBottom = 66;
  static constexpr int kLegendLine = 22;

  int top, gap_x, gap_y;
  int panel_width, panel_height;
  bool shared_columns;
  std::optional<int> fixed_width;  // width on paper
  int title_width;
  int panels_width() const {
    return kLeft + columns * panel_width + (columns - 1) * gap_x + kRight;
  }
  // Returns the width, which a long title widens up to twice.
  int width() const {
    return fixed_width.value_or(std::clamp(title_width, panels_width(), 2 * panels_width()));
  }
  size_t most_legend_letters() const {
    const int sample = fixed_width ? kTightLegendSample : kLegendSample;
    return static_cast<size_t>((width() - sample) / kLegendLetter);
  }
  int legend_top() const { return top + rows * panel_height + (rows - 1) * gap_y + kBottom; }
  int height() const { return legend_top() + legend_rows * kLegendLine + 16; }
  PictureSize size() const {
    return {width(), height(), fixed_width ? std::optional(kPointsOfADot) : std::nullopt};
  }
  std::string X(double pixels) const { return absl::StrFormat("%.4f", pixels / width()); }
  std::string Y(double pixels) const { return absl::StrFormat("%.4f", 1 - pixels / height()); }
};

// Least widths in dots that can be read: of a panel with an axis of its own, and of panels that
// share one.
constexpr int kLeastPanel = 160, kLeastSharedPanel = 90;

int DotsOf(double width_cm) {
  constexpr double kPoints = 72 / 2.54;
  return static_cast<int>(width_cm * kPoints / kPointsOfADot);
}

bool HasTitles(const Page& page) {
  return std::any_of(page.panels.begin(), page.panels.end(),
                     [](const Panel& panel) { return !panel.title.empty(); });
}

struct LegendEntry {
  std::string label;
  std::string style;  // style of the line beside the label
};

std::vector<LegendEntry> LegendOf(const Page& page);

// Returns the width of each panel of a row whose panels together fill `width`.
int FittingPanel(const PageLayout& layout, int width) {
  const int gaps = (layout.columns - 1) * layout.gap_x;
  return (width - PageLayout::kLeft - PageLayout::kRight - gaps) / layout.columns;
}

// Sets the size of panels and, on paper, how many are side by side.
void FitPanels(const Page& page, std::optional<double> width_cm, PageLayout* layout) {
  constexpr int kHighest = 300;
  layout->columns = std::max(1, page.columns);
  layout->gap_x = page.shared_rows ? 28 : 92;
  layout->panel_width = PageLayout::kPanelWidth;
  layout->panel_height = PageLayout::kPanelHeight;
  layout->shared_columns = page.shared_columns;
  if (!width_cm) return;
  // The names at the ends of two axes meet between them.
  const bool named = std::ranges::any_of(
      page.panels, [](const Panel& panel) { return !panel.x.named_tics.empty(); });
  if (page.shared_rows && named) layout->gap_x = 48;
  layout->fixed_width = DotsOf(*width_cm);
  if (!page.shared_rows) {
    while (layout->columns > 1 && FittingPanel(*layout, *layout->fixed_width) < kLeastPanel) {
      --layout->columns;
    }
    layout->shared_columns = page.shared_columns && layout->columns == std::max(1, page.columns);
  }
  layout->panel_width = std::max(1, FittingPanel(*layout, *layout->fixed_width));
  layout->panel_height =
      std::min(kHighest, layout->panel_width * PageLayout::kPanelHeight / PageLayout::kPanelWidth);
  // High enough for the name of a vertical axis.
  layout->panel_height = std::max(layout->panel_height, 130);
}

PageLayout LayoutOf(const Page& page, std::optional<double> width_cm) {
  PageLayout layout{};
  FitPanels(page, width_cm, &layout);
  layout.rows = (static_cast<int>(page.panels.size()) + layout.columns - 1) / layout.columns;
  const bool untitled = width_cm && page.title.empty();
  layout.top = (untitled ? 14 : 58) + (HasTitles(page) ? 18 : 0);
  // A longer title is cut.
  const size_t letters = std::min<size_t>(LetterCount(page.title), 10'000);
  layout.title_width = kTitleLetter * static_cast<int>(letters) + kTitleMargins;
  layout.gap_y = 24 + (HasTitles(page) ? 16 : 0) + (layout.shared_columns ? 0 : 44);
  size_t longest = 1;
  const std::vector<LegendEntry> legend = LegendOf(page);
  for (const LegendEntry& entry : legend) longest = std::max(longest, LetterCount(entry.label));
  layout.legend_letters = std::min(longest, layout.most_legend_letters());
  layout.legend_entry = kLegendSample + kLegendLetter * static_cast<int>(layout.legend_letters);
  const int entries = static_cast<int>(legend.size());
  const int fitting = (layout.width() - (width_cm ? 0 : PageLayout::kLeft)) / layout.legend_entry;
  layout.legend_columns = std::clamp(fitting, 1, std::max(1, entries));
  layout.legend_rows = (entries + layout.legend_columns - 1) / layout.legend_columns;
  return layout;
}

std::string Head(const PageLayout& layout, PictureFormat format, const std::string& output) {
  return absl::StrCat(GnuplotTerminal(format, layout.size(), output), "set multiplot\n",
                      "set border 3 lc rgb '#606060'\n",
                      "set tics nomirror out textcolor '#303030'\n",
                      "set grid back lt 1 dt solid lc rgb '#cccccc' lw 1\n", "unset key\n");
}

std::string DataName(size_t panel, size_t curve) { return absl::StrCat("$p", panel, "c", curve); }

// Returns the points of a curve that gnuplot can draw on these axes, in the units of the axes.
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

// Returns how many letters fit a panel, if `usual` letters fit a panel of the usual width.
size_t LettersOf(size_t usual, const PageLayout& layout) {
  const auto width = static_cast<size_t>(layout.panel_width);
  return std::max<size_t>(8, usual * width / PageLayout::kPanelWidth);
}

// Breaks the parts into lines of a panel's width; "and 3 more" if they do not fit.
std::vector<std::string> Lines(const std::string& head, const std::vector<std::string>& parts,
                               const PageLayout& layout) {
  const size_t width = LettersOf(62, layout);  // letters of the size of notes
  constexpr size_t kMaxLines = 3;
  std::vector<std::string> lines = {head};
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string part = parts[i] + (i + 1 < parts.size() ? ";" : "");
    if (lines.back().size() + 1 + part.size() <= width) {
      absl::StrAppend(&lines.back(), " ", part);
    } else if (lines.size() == kMaxLines) {
      absl::StrAppend(&lines.back(), " and ", parts.size() - i, " more");
      break;
    } else {
      if (part.size() > width) part.replace(width - 3, part.npos, "...");
      lines.push_back(std::move(part));
    }
  }
  return lines;
}

// Names the curves that are 0 throughout: runs that agree exactly have no place on a logarithmic
// axis.
std::string ZeroNote(const Page& page, const PageLayout& layout, const Panel& panel) {
  std::vector<std::string> labels;
  for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
    const Band& band = panel.curves[curve];
    const bool zero = std::all_of(band.begin(), band.end(),
                                  [](const BandPoint& point) { return point.high == 0; });
    if (zero && !band.empty()) labels.push_back(page.labels[curve]);
  }
  if (labels.empty()) return "";
  const std::vector<std::string> lines = Lines("0 throughout:", labels, layout);
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

// Dashes of simulated and of real curves on a page that has both; the second of each is used where
// colours repeat.
constexpr const char* kSimulatedDashes[] = {"(12,6)", "(12,4,3,4)"};
constexpr const char* kRealDashes[] = {"solid", "(2,3)"};

std::string DashOf(const Page& page, size_t curve) {
  if (page.hollow.empty()) return CurveDash(curve);
  const size_t repeats = curve / kCurveColours % 2;
  return page.hollow.contains(curve) ? kSimulatedDashes[repeats] : kRealDashes[repeats];
}

// Draws an unsmoothed curve under the smoothed one, in its colour and mostly transparent.
std::string FaintElement(const std::string& data, size_t curve) {
  return absl::StrFormat("%s using 1:3 notitle with lines lc rgb '#b0%s' dt solid lw 1", data,
                         CurveColour(curve).substr(1));
}

std::string LineElement(const Page& page, const std::string& data, size_t curve, bool marked) {
  const bool hollow = page.hollow.contains(curve);
  return absl::StrFormat("%s using 1:3 notitle with %s lc rgb '%s' dt %s lw %g%s", data,
                         marked ? "linespoints" : "lines", CurveColour(curve), DashOf(page, curve),
                         hollow ? 1 : 2,
                         !marked  ? ""
                         : hollow ? " pt 6 ps 0.7"
                                  : " pt 7 ps 0.5");
}

// The width of a group of bars; groups are 1 apart.
constexpr double kGroupWidth = 0.8;

double BarWidth(const Panel& panel) {
  return kGroupWidth / static_cast<double>(std::max<size_t>(1, panel.curves.size()));
}

// Returns the distance of a curve's bars from the middle of their groups.
double BarOffset(const Panel& panel, size_t curve) {
  return BarWidth(panel) * (static_cast<double>(curve) + 0.5) - kGroupWidth / 2;
}

// Draws bars, with a whisker from the least to the greatest value if bars join several runs.
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

// Letters of a note above a bar; notes stand upright where bars are too narrow for them.
constexpr size_t kLettersOfANote = 9;

bool StandUpright(const Panel& panel, const PageLayout& layout) {
  const size_t bars = panel.curves.size() * std::max<size_t>(1, panel.x.named_tics.size());
  return bars * kLettersOfANote > LettersOf(62, layout);
}

std::string PlaceOverBar(const Panel& panel, const PageLayout& layout) {
  return StandUpright(panel, layout) ? "rotate by 90 left offset character 0,0.4"
                                     : "center offset character 0,0.7";
}

// Returns the upper end of the vertical axis, with room for notes that stand upright.
double HighOf(const Panel& panel, const PageLayout& layout) {
  if (!panel.bars || panel.y.logarithmic || !StandUpright(panel, layout)) return panel.y.high;
  size_t letters = 0;
  for (const auto& notes : panel.notes) {
    for (const std::string& note : notes) letters = std::max(letters, LetterCount(note));
  }
  constexpr double kLetter = 6.5, kMost = 0.6;  // dots; part of the panel's height
  const double share =
      std::min(kMost, kLetter * static_cast<double>(letters) / layout.panel_height);
  return panel.y.low + (panel.y.high - panel.y.low) / (1 - share);
}

// Returns where the note of a point stands: above the point if no other curve is higher at its x,
// below it if none is lower, else beside it. Of equal points, the first curve's counts as highest.
std::string PlaceAtPoint(const Panel& panel, size_t curve, const BandPoint& point) {
  bool over = false, under = false;  // whether another curve is
  for (size_t other = 0; other < panel.curves.size(); ++other) {
    const auto there = std::ranges::find(panel.curves[other], point.x, &BandPoint::x);
    if (other == curve || there == panel.curves[other].end()) continue;
    const bool higher = there->mean > point.mean || (there->mean == point.mean && other < curve);
    (higher ? over : under) = true;
  }
  if (!over) return "center offset character 0,0.7";
  return under ? "left offset character 0.8,0" : "center offset character 0,-0.7";
}

// A label, unlike a curve, is drawn outside of its axes too.
bool IsInside(double value, const Axis& axis) { return axis.low <= value && value <= axis.high; }

// Returns the notes at a curve's points.
std::string Notes(const Panel& panel, const PageLayout& layout, size_t curve) {
  if (curve >= panel.notes.size()) return "";
  const Band& band = panel.curves[curve];
  std::string script;
  for (size_t i = 0; i < std::min(band.size(), panel.notes[curve].size()); ++i) {
    if (panel.notes[curve][i].empty()) continue;
    const double height = std::isnan(band[i].mean) ? panel.y.low : band[i].high / panel.y.unit;
    if (!IsInside(band[i].x / panel.x.unit, panel.x) || !IsInside(height, panel.y)) continue;
    absl::StrAppendFormat(
        &script, "set label %s at first %.8g,%.8g %s noenhanced font ',8' textcolor '%s' front\n",
        GnuplotQuoted(panel.notes[curve][i]),
        band[i].x / panel.x.unit + (panel.bars ? BarOffset(panel, curve) : 0), height,
        panel.bars ? PlaceOverBar(panel, layout) : PlaceAtPoint(panel, curve, band[i]),
        panel.bars ? "#303030" : CurveColour(curve));
  }
  return script;
}

std::string PanelPosition(const PageLayout& layout, size_t panel) {
  const int column = static_cast<int>(panel) % layout.columns;
  const int row = static_cast<int>(panel) / layout.columns;
  const int left = PageLayout::kLeft + column * (layout.panel_width + layout.gap_x);
  const int top = layout.top + row * (layout.panel_height + layout.gap_y);
  return absl::StrCat("set lmargin at screen ", layout.X(left), "\nset rmargin at screen ",
                      layout.X(left + layout.panel_width), "\nset tmargin at screen ",
                      layout.Y(top), "\nset bmargin at screen ",
                      layout.Y(top + layout.panel_height), "\n");
}

std::string TicList(const std::vector<double>& tics) {
  return absl::StrCat("(", absl::StrJoin(tics, ", "), ")");
}

// Returns a round distance of tics, for about `most` of them on a linear axis.
std::string SparseTics(const Axis& axis, int most) {
  const double least = (axis.high - axis.low) / std::max(1, most);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= least) return absl::StrFormat("%g", step * power);
  }
  return absl::StrFormat("%g", 10 * power);
}

// Returns the tics of an axis that names none: gnuplot's own choice counts on wide panels.
std::string ChosenTics(const char* which, const Axis& axis, const PageLayout& layout) {
  constexpr int kRoomOfATic = 40;
  const bool sparse = which[0] == 'x' && layout.fixed_width && !axis.logarithmic;
  return sparse ? SparseTics(axis, layout.panel_width / kRoomOfATic) : "autofreq";
}

// Sets where tics are, and how their numbers are written.
std::string Tics(const char* which, const Axis& axis, const PageLayout& layout, bool shown) {
  const char* const format = !shown ? "''" : axis.decades ? "'10^{%L}'" : "'%g'";
  std::string script = absl::StrCat("set format ", which, " ", format, "\n");
  if (axis.named_tics.empty()) {
    return absl::StrCat(script, "set ", which, "tics ",
                        axis.tics.empty() ? ChosenTics(which, axis, layout) : TicList(axis.tics),
                        "\n");
  }
  const auto name = [shown](std::string* out, const auto& tic) {
    absl::StrAppend(out, GnuplotQuoted(shown ? tic.first : ""), " ", tic.second);
  };
  return absl::StrCat(script, "set ", which, "tics (", absl::StrJoin(axis.named_tics, ", ", name),
                      ")\n");
}

// Returns whether bars have the legend's numbers under them: the bars of a single group without a
// name, which only their colours would tell apart.
bool NumbersBars(const Panel& panel) {
  const auto& groups = panel.x.named_tics;
  return panel.bars && panel.curves.size() > 1 && groups.size() == 1 && groups[0].first.empty();
}

std::string NumbersUnderBars(const Panel& panel) {
  std::vector<std::string> tics;
  for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
    tics.push_back(absl::StrFormat("'%d' %.6g", curve + 1, BarOffset(panel, curve)));
  }
  return absl::StrCat("set xtics (", absl::StrJoin(tics, ", "), ")\n");
}

// Sets axes, ranges and labels. The inner panels of shared rows and columns have no labels.
std::string Axes(const Page& page, const PageLayout& layout, size_t index) {
  const Axis& x = page.panels[index].x;
  const Axis& y = page.panels[index].y;
  const bool bottom = !layout.shared_columns || index + layout.columns >= page.panels.size();
  const bool left = !page.shared_rows || index % layout.columns == 0;
  std::string script;
  absl::StrAppend(&script, x.logarithmic ? "set logscale x 10\n" : "unset logscale x\n",
                  y.logarithmic ? "set logscale y 10\n" : "unset logscale y\n",
                  NumbersBars(page.panels[index]) ? NumbersUnderBars(page.panels[index])
                                                  : Tics("x", x, layout, bottom),
                  Tics("y", y, layout, left), "set xlabel ", GnuplotQuoted(bottom ? x.label : ""),
                  "\n", "set ylabel ", GnuplotQuoted(left ? y.label : ""), "\n");
  absl::StrAppendFormat(&script, "set xrange [%.8g:%.8g]\nset yrange [%.8g:%.8g]\n", x.low, x.high,
                        y.low, HighOf(page.panels[index], layout));
  return script;
}

std::string Title(const Panel& panel, const PageLayout& layout) {
  const size_t letters = LettersOf(56, layout);
  if (panel.title.empty()) return "";
  return absl::StrCat("set label 4 ", GnuplotQuoted(Fitting(panel.title, letters)),
                      " at graph 0.5,1.06 center noenhanced textcolor '#303030'\n");
}

// Returns the line with which curves are compared, and adds what it needs to `script`.
std::string Reference(const Panel& panel, size_t index, std::string* script) {
  const Band points = Drawable(panel.reference, panel.x, panel.y);
  if (points.empty()) return "";
  const std::string data = absl::StrCat("$p", index, "reference");
  absl::StrAppend(script, DataBlock(data, points));
  // The point at which the reference leaves the axes, or ends.
  const auto shown = std::find_if(points.rbegin(), points.rend(), [&panel](const BandPoint& point) {
    return IsInside(point.x, panel.x) && IsInside(point.mean, panel.y);
  });
  if (shown != points.rend()) {
    absl::StrAppendFormat(script,
                          "set label 3 %s at %.8g,%.8g right offset character -1,0 noenhanced "
                          "font ',9' textcolor '#808080'\n",
                          GnuplotQuoted(panel.reference_name), shown->x, shown->mean);
  }
  return absl::StrCat(data, " using 1:3 notitle with lines lc rgb '#a0a0a0' dt (4,4) lw 1.5, ");
}

std::string DrawPanel(const Page& page, const PageLayout& layout, size_t index) {
  const Panel& panel = page.panels[index];
  if (panel.blank) return "";
  std::string script =
      PanelPosition(layout, index) + Axes(page, layout, index) + Title(panel, layout);
  std::string bands = Reference(panel, index, &script);
  std::string lines;
  bool noted_point = false;
  for (size_t curve = 0; curve < panel.curves.size(); ++curve) {
    const std::string notes = Notes(panel, layout, curve);
    noted_point = noted_point || !notes.empty();
    absl::StrAppend(&script, notes);
    const Band points = Drawable(panel.curves[curve], panel.x, panel.y);
    if (points.empty()) continue;
    const std::string data = DataName(index, curve);
    absl::StrAppend(&script, DataBlock(data, points));
    if (curve < panel.unsmoothed.size()) {
      const std::string raw = data + "raw";
      absl::StrAppend(&script, DataBlock(raw, Drawable(panel.unsmoothed[curve], panel.x, panel.y)));
      absl::StrAppend(&bands, FaintElement(raw, curve), ", ");
    }
    if (panel.bars) {
      absl::StrAppend(&lines, BarElement(panel, data, curve, HasWidth(points)), ", ");
      continue;
    }
    if (HasWidth(points)) absl::StrAppend(&bands, BandElement(data, curve), ", ");
    absl::StrAppend(&lines, LineElement(page, data, curve, points.size() <= kMarkedPoints), ", ");
  }
  // The note stands once per row, and in every panel with an axis of its own.
  const bool noted = panel.y.logarithmic && (!page.shared_rows || index % layout.columns == 0);
  const std::string agreement = panel.y.logarithmic ? ZeroNote(page, layout, panel) : "";
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

// Returns how a curve looks in the legend.
std::string LegendStyle(const Page& page, size_t curve) {
  const bool bars = std::ranges::any_of(page.panels, &Panel::bars);
  return absl::StrFormat("lc rgb '%s' dt %s lw %g", CurveColour(curve),
                         !bars                                     ? DashOf(page, curve)
                         : CurveFill(curve).starts_with("pattern") ? "(1,1)"
                                                                   : "solid",
                         bars                          ? 8.0
                         : page.hollow.contains(curve) ? 1.25
                                                       : 2.5);
}

// Returns an entry for each curve, and one that says what dashes mean if a name that the user chose
// does not say it.
std::vector<LegendEntry> LegendOf(const Page& page) {
  std::vector<LegendEntry> legend;
  bool explained = true;
  const bool numbered = std::ranges::any_of(page.panels, NumbersBars);
  for (size_t curve = 0; curve < page.labels.size(); ++curve) {
    const std::string& label = page.labels[curve];
    legend.push_back(
        {numbered ? absl::StrCat(curve + 1, ": ", label) : label, LegendStyle(page, curve)});
    const bool said = absl::StrContains(absl::AsciiStrToLower(label), "simulated");
    if (page.hollow.contains(curve) && !said) explained = false;
  }
  if (!explained) {
    legend.push_back({"dashed: simulated",
                      absl::StrCat("lc rgb '#606060' dt ", kSimulatedDashes[0], " lw 1.25")});
  }
  return legend;
}

// Draws the legend by hand: gnuplot's own key belongs to a single panel.
std::string Legend(const Page& page, const PageLayout& layout) {
  // Centred under the panels, if there is room.
  const int spare = layout.width() - layout.legend_columns * layout.legend_entry;
  const int left = std::max(0, std::min(spare, (PageLayout::kLeft + spare) / 2));
  std::string script;
  const std::vector<LegendEntry> legend = LegendOf(page);
  for (size_t i = 0; i < legend.size(); ++i) {
    const double x = left + layout.legend_entry * (i % layout.legend_columns);
    const double y =
        layout.legend_top() + PageLayout::kLegendLine * (i / layout.legend_columns + 0.5);
    absl::StrAppendFormat(&script, "set arrow from screen %s,%s to screen %s,%s nohead %s\n",
                          layout.X(x), layout.Y(y), layout.X(x + 44), layout.Y(y), legend[i].style);
    absl::StrAppendFormat(&script, "set label %s at screen %s,%s left noenhanced\n",
                          GnuplotQuoted(Fitting(legend[i].label, layout.legend_letters)),
                          layout.X(x + 54), layout.Y(y));
  }
  return script;
}

// Title and legend stand on an invisible plot over the whole page.
std::string Frame(const Page& page, const PageLayout& layout) {
  const auto letters =
      static_cast<size_t>(std::max(60, layout.width() - kTitleMargins) / kTitleLetter);
  return absl::StrCat("set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n",
                      "set bmargin at screen 0\nunset border\nunset tics\nunset grid\nunset "
                      "logscale x\nunset logscale y\n",
                      "set xlabel ''\nset ylabel ''\nset xrange [0:1]\nset yrange [0:1]\n",
                      "set label ", GnuplotQuoted(Fitting(page.title, letters)), " at screen 0.5,",
                      layout.Y(26), " center noenhanced font ',13'\n", Legend(page, layout),
                      "plot NaN notitle\n");
}

}  // namespace

std::optional<std::string> CommonName(const std::vector<Panel>& panels, Axis Panel::*axis) {
  std::optional<std::string> name;
  for (const Panel& panel : panels) {
    if (panel.blank) continue;
    if (name && *name != NameOf(panel.*axis)) return std::nullopt;
    name = NameOf(panel.*axis);
  }
  return name;
}

std::string GnuplotScript(const Page& page, PictureFormat format, const std::string& output,
                          std::optional<double> width_cm) {
  const PageLayout layout = LayoutOf(page, width_cm);
  std::string script = Head(layout, format, output);
  for (size_t i = 0; i < page.panels.size(); ++i) {
    absl::StrAppend(&script, DrawPanel(page, layout, i));
  }
  return absl::StrCat(script, Frame(page, layout), "unset multiplot\nunset output\n");
}

absl::Status CheckWidth(const Page& page, double width_cm) {
  const PageLayout layout = LayoutOf(page, width_cm);
  const int least = page.shared_rows && layout.columns > 1 ? kLeastSharedPanel : kLeastPanel;
  if (layout.panel_width >= least) return absl::OkStatus();
  return UsageError(absl::StrFormat(
      "--width of %.3g cm is too narrow for %d side by side; give a greater one, or a picture of "
      "fewer panels, as by --x=epoch",
      width_cm, layout.columns));
}

}  // namespace grapevine
