#include "report/winner_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

// The times of one cell, by method.
using Times = std::map<std::string, std::vector<double>>;

struct Sides {
  Times gossip, centralized;
};

std::pair<std::string, double> Best(const Times& times) {
  std::pair<std::string, double> best{"", INFINITY};
  for (const auto& [method, seconds] : times) {
    double sum = 0;
    for (const double one : seconds) sum += one;
    const double mean = sum / static_cast<double>(seconds.size());
    if (mean < best.second) best = {method, mean};
  }
  return best;
}

std::optional<WinnerMap::Cell> Decide(const Sides& sides) {
  if (sides.gossip.empty() || sides.centralized.empty()) return std::nullopt;
  const auto gossip = Best(sides.gossip);
  const auto centralized = Best(sides.centralized);
  if (std::isinf(gossip.second) && std::isinf(centralized.second)) return std::nullopt;
  const double advantage = centralized.second / gossip.second;
  return WinnerMap::Cell{advantage >= 1 ? gossip.first : centralized.first, advantage};
}

// Checks that nothing varies that the map does not show: it has room for two quantities, and
// compares methods.
absl::Status CheckNothingElseVaries(std::span<const SweptCell> cells) {
  std::set<std::string> shown = {"bandwidth", "latency", "topology", "algorithm", "seed"};
  if (TimesOfGradientsFollow(ConfigsOfCells(cells))) shown.insert("compute");
  for (const ConfigField* field : ConfigFields()) {
    const std::string& name = field->name();
    if (!DescribesRun(*field) || shown.contains(name)) continue;
    std::set<std::string> values;
    for (const SweptCell& cell : cells) values.insert(FieldText(*field, cell.config));
    if (values.size() < 2) continue;
    return InputError(absl::StrCat("the cells have several values of ", FlagName(*field), " (",
                                   absl::StrJoin(values, ", "),
                                   "), and a map has room for one; name the cells of one value, "
                                   "for example SWEEP/*",
                                   name, "=", *values.begin(), "*"));
  }
  return absl::OkStatus();
}

absl::Status CheckList(const std::vector<double>& values, const char* name,
                       std::string (*text)(double)) {
  if (values.size() > 1) return absl::OkStatus();
  if (values.empty()) {
    return InputError(
        absl::StrCat("the sweep leaves the ", name, " to the network; give --", name, " a list"));
  }
  return InputError(absl::StrCat("the sweep has one ", name, " (", text(values.front()),
                                 "); give --", name, " a list"));
}

// Sizes in the script, in pixels.
constexpr int kLeft = 90, kRight = 160, kTop = 58, kUntitledTop = 20, kBottom = 66, kRowHeight = 46;
constexpr int kNoteHeight = 16;
constexpr int kLetter = 7, kColumnMargin = 14, kNarrowestColumn = 88;
// The deepest colour stands for at least this factor.
constexpr double kLeastScale = 2;

// The text that replaces the factor of a cell in which only one side reaches the goal.
constexpr char kAlone[] = "alone";

double FactorOf(const WinnerMap::Cell& cell) {
  return std::max(cell.advantage, 1 / cell.advantage);
}

std::string FactorText(const WinnerMap::Cell& cell) {
  const double factor = FactorOf(cell);
  return std::isinf(factor) ? kAlone : absl::StrFormat("%.3g\u00d7", factor);
}

int ColumnWidth(const WinnerMap& map) {
  size_t longest = 0;
  for (const auto& cell : map.cells) {
    if (cell) longest = std::max(longest, cell->winner.size());
  }
  return std::max(kNarrowestColumn, kColumnMargin + kLetter * static_cast<int>(longest));
}

// Returns tics that name the values in the middle of columns or rows.
std::string NamedTics(const std::vector<double>& values, std::string (*name)(double)) {
  std::vector<std::string> tics;
  for (size_t i = 0; i < values.size(); ++i) {
    tics.push_back(absl::StrCat(GnuplotQuoted(name(values[i])), " ", i));
  }
  return absl::StrCat("(", absl::StrJoin(tics, ", "), ")");
}

// Returns the greatest factor of a cell in which both sides reach the goal; at least kLeastScale.
double ScaleOf(const WinnerMap& map) {
  double scale = kLeastScale;
  for (const auto& cell : map.cells) {
    if (cell && !std::isinf(FactorOf(*cell))) scale = std::max(scale, FactorOf(*cell));
  }
  return scale;
}

// Returns the notes below the map. The numbers of their labels follow those of all cells.
std::string Notes(const WinnerMap& map, int height) {
  std::string script;
  for (size_t i = 0; i < map.notes.size(); ++i) {
    const size_t below = map.notes.size() - i;
    absl::StrAppendFormat(&script,
                          "set label %d %s at screen 0.01,%.4f left noenhanced font ',8' textcolor "
                          "'#606060'\n",
                          2 * (map.cells.size() + 1) + i, GnuplotQuoted(map.notes[i]),
                          kNoteHeight * (static_cast<double>(below) - 0.4) / height);
  }
  return script;
}

// Returns the tics of the scale: factors 1, 2, 4 ... on both sides, or powers of ten.
std::string ScaleTics(double scale) {
  const double step = scale > 16 ? 10 : 2;
  std::vector<std::string> tics = {"'1\u00d7' 0"};
  for (double factor = step; factor <= scale * 1.001; factor *= step) {
    tics.push_back(absl::StrFormat("'%g\u00d7 gossip' %.6g", factor, std::log10(factor)));
    tics.push_back(absl::StrFormat("'%g\u00d7 central' %.6g", factor, -std::log10(factor)));
  }
  return absl::StrCat("(", absl::StrJoin(tics, ", "), ")");
}

// Draws one cell; `end` is the decimal logarithm of the factor at the end of the scale.
std::string DrawCell(const WinnerMap::Cell& cell, size_t id, size_t column, size_t row,
                     double end) {
  const double x = static_cast<double>(column);
  const double y = static_cast<double>(row);
  const double colour = std::clamp(std::log10(cell.advantage), -end, end);
  // White on the deep ends of the palette.
  const char* const ink = std::abs(colour) > 0.72 * end ? "#ffffff" : "#202020";
  return absl::StrFormat(
      "set object %d rectangle from first %g,%g to first %g,%g fc palette cb %.6g "
      "fs solid border lc rgb '#ffffff' lw 1 back\n"
      "set label %d %s at first %g,%g center noenhanced textcolor '%s' front\n"
      "set label %d %s at first %g,%g center noenhanced textcolor '%s' front\n",
      id, x - 0.5, y - 0.5, x + 0.5, y + 0.5, colour, 2 * id, GnuplotQuoted(cell.winner), x,
      y + 0.16, ink, 2 * id + 1, GnuplotQuoted(FactorText(cell)), x, y - 0.22, ink);
}

// Returns what to add to a sweep in which one side is missing: of the methods whose rounds can be
// compared, those that --advise compares.
std::string Remedy(bool centralized) {
  std::vector<std::string> names;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    if (kind->advised && kind->centralized == centralized) names.push_back(kind->name);
  }
  return absl::StrCat("add ", absl::StrJoin(names, " or "), " to --algorithm");
}

}  // namespace

absl::StatusOr<WinnerMap> MakeWinnerMap(std::span<const SweptCell> cells, const WinnerTime& time) {
  std::map<std::pair<double, double>, Sides> sides_at;  // by latency, bandwidth
  std::set<double> bandwidths, latencies;
  std::vector<const Config*> configs;
  bool gossip = false, centralized = false;
  for (const SweptCell& cell : cells) {
    configs.push_back(&cell.config);
    const bool central = IsCentralized(cell.config.algorithm());
    (central ? centralized : gossip) = true;
    const std::optional<double> bandwidth = cell.bandwidth();
    const std::optional<double> latency = cell.latency();
    if (bandwidth) bandwidths.insert(*bandwidth);
    if (latency) latencies.insert(*latency);
    if (!bandwidth || !latency) continue;
    ASSIGN_OR_RETURN(const double seconds, time(cell));
    Sides& sides = sides_at[{*latency, *bandwidth}];
    // The default algorithm is named by its graph alone: "ring".
    const bool usual = !central && cell.config.algorithm() == Config().algorithm();
    const std::string name = usual ? cell.config.topology() : MethodName(cell.config);
    (central ? sides.centralized : sides.gossip)[name].push_back(seconds);
  }
  WinnerMap map{.title = CommonTitle(configs),
                .bandwidths = {bandwidths.begin(), bandwidths.end()},
                .latencies = {latencies.begin(), latencies.end()}};
  absl::Status status = CheckList(map.bandwidths, "bandwidth", &BandwidthName);
  status.Update(CheckList(map.latencies, "latency", &LatencyName));
  status.Update(CheckNothingElseVaries(cells));
  RETURN_IF_ERROR(status);
  if (!gossip) return InputError(absl::StrCat("the sweep has no gossip; ", Remedy(false)));
  if (!centralized) {
    return InputError(absl::StrCat("the sweep has nothing to compare gossip with; ", Remedy(true)));
  }
  for (const double latency : map.latencies) {
    for (const double bandwidth : map.bandwidths) {
      map.cells.push_back(Decide(sides_at[{latency, bandwidth}]));
    }
  }
  return map;
}

namespace {

int WidthOf(const WinnerMap& map) {
  return kLeft + static_cast<int>(map.bandwidths.size()) * ColumnWidth(map) + kRight;
}

// Returns the size of a dot on paper, in points; letters are ten dots high.
double PointsOfADot(const WinnerMap& map, double width_cm) {
  return width_cm * 72 / 2.54 / WidthOf(map);
}

}  // namespace

absl::Status CheckWidth(const WinnerMap& map, double width_cm) {
  constexpr double kLeastLetters = 5;
  const double letters = 10 * PointsOfADot(map, width_cm);
  if (letters >= kLeastLetters) return absl::OkStatus();
  return UsageError(
      absl::StrFormat("--width of %.3g cm would make the letters of this map %.1f points high; "
                      "give at least %.0fcm",
                      width_cm, letters, std::ceil(width_cm * kLeastLetters / letters)));
}

std::string WinnerScript(const WinnerMap& map, PictureFormat format, const std::string& output,
                         std::optional<double> width_cm) {
  const int columns = static_cast<int>(map.bandwidths.size());
  const int rows = static_cast<int>(map.latencies.size());
  const int width = WidthOf(map);
  const int bottom = kBottom + kNoteHeight * static_cast<int>(map.notes.size());
  const int top = map.title.empty() ? kUntitledTop : kTop;
  const int height = top + rows * kRowHeight + bottom;
  const double scale = ScaleOf(map);
  std::string script = GnuplotTerminal(
      format,
      {width, height, width_cm ? std::optional(PointsOfADot(map, *width_cm)) : std::nullopt},
      output);
  absl::StrAppendFormat(&script,
                        "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
                        "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                        1.0 * kLeft / width, 1 - 1.0 * kRight / width, 1 - 1.0 * top / height,
                        1.0 * bottom / height);
  absl::StrAppendFormat(&script, "set label 1 %s at screen 0.5,%.4f center noenhanced font ',13'\n",
                        GnuplotQuoted(map.title), 1 - 26.0 / height);
  absl::StrAppend(&script, Notes(map, height),
                  "unset key\nset border 0\nset tics nomirror scale 0\n", "set xtics ",
                  NamedTics(map.bandwidths, &BandwidthName), "\nset ytics ",
                  NamedTics(map.latencies, &LatencyName),
                  "\nset xlabel 'bandwidth'\nset ylabel 'latency, one way'\n");
  absl::StrAppendFormat(&script, "set xrange [-0.5:%g]\nset yrange [-0.5:%g]\n", columns - 0.5,
                        rows - 0.5);
  // Orange over white to blue: told apart by colour-blind readers.
  const double end = std::log10(scale);
  absl::StrAppendFormat(&script,
                        "set palette defined (-2 '#a63603', -1 '#fdae6b', 0 '#f7f7f7', "
                        "1 '#9ecae1', 2 '#08519c')\nset cbrange [%.6g:%.6g]\nset cbtics %s\n",
                        -end, end, ScaleTics(scale));
  size_t id = 1;
  for (size_t i = 0; i < map.cells.size(); ++i) {
    if (!map.cells[i]) continue;
    absl::StrAppend(&script, DrawCell(*map.cells[i], id++, i % columns, i / columns, end));
  }
  // Invisible points make gnuplot draw the colour scale.
  return absl::StrCat(script,
                      "$scale << EOD\n0 0 0\nEOD\n"
                      "plot $scale using 1:2:3 with points pt 7 ps 0 palette\nunset output\n");
}

}  // namespace grapevine
